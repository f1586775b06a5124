export type { CheckoutReturn } from './checkout.ts';
export type { Order, Payment, RailAEvent } from './objects.ts';
export { type RailAKnobs, type RailASim, type RailASimOptions, startRailASim } from './server.ts';
