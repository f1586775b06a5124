export { advancePeriod, type PeriodProgress } from './grace.ts';
export {
  getPlanOperation,
  listPlansOperation,
  planOperations,
  setPlanOperation,
} from './operations.ts';
export { openPeriod, openPeriods } from './period.ts';
export {
  changeSheet,
  getSheetOperation,
  type SheetChange,
  SheetView,
  setSheetOperation,
  sheetOperations,
  viewSheet,
} from './sheet.ts';
export {
  FREE_MONTHS_MAX,
  getStaffPlanOperation,
  planTimes,
  putOnPlan,
  type StaffPlan,
  setStaffPlanOperation,
  staffPlanOperations,
} from './staff.ts';
export { listCharges } from './store.ts';
export { type Charge, refOf } from './types.ts';
export { changeKinds, OrgPlanView, PlanChangeView, viewPlan } from './view.ts';
