export type { Session } from './objects.ts';
export { type ApiFault, type Knobs, type RailSim, type RailSimOptions, startRailSim } from './server.ts';
