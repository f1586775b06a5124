export type { RouteWish } from './types.ts';
