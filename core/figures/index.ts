import { listAppsOperation, putAppOperation } from './apps.ts';
import { badgeOperation, publicAppOperation } from './public-app.ts';
import { rankingsOperation } from './rankings.ts';
import { modelStatsOperation } from './stats.ts';

export { listAppsOperation, putAppOperation } from './apps.ts';
export { FiguresMemory } from './memory.ts';
export { type PublicApp, readPublicApp } from './public-app.ts';
export { publishFigures } from './publish.ts';
export { figureServices } from './published.ts';
export { RankingsView, rankingsOperation, readRankings } from './rankings.ts';
export {
  excludeAppOperation,
  getStaffFiguresOperation,
  listStaffAppsOperation,
  publishStaffFiguresOperation,
  restoreAppOperation,
  StaffAppView,
  StaffFiguresView,
  staffFigureOperations,
} from './staff.ts';
export { readAsked } from './staff-store.ts';
export { changeKinds, ModelStats, modelStatsOperation, readChanges, readStats } from './stats.ts';
export { AppView } from './types.ts';

export const figureOperations = [
  modelStatsOperation,
  rankingsOperation,
  listAppsOperation,
  putAppOperation,
  publicAppOperation,
  badgeOperation,
] as const;
