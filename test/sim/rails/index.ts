export type { ApiFault } from './faults.ts';
export type { Session } from './objects.ts';
export { type RailASim, type RailASimOptions, startRailASim } from './rail-a/index.ts';
export { type Knobs, type RailSim, type RailSimOptions, startRailSim } from './server.ts';
