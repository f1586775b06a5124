export type { Cost, CostLine, Usage } from './types.ts';
