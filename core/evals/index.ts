export { graderFault } from './grade/check.ts';
export { type Grader, graderKinds } from './grade/types.ts';
export { evalOperations } from './operations.ts';
export { finishRun } from './runs/finish.ts';
export type { Answered, CallAsked, EvalGateway, Refused } from './runs/gateway.ts';
export {
  cancelRunOperation,
  createRunOperation,
  estimateRunOperation,
  getRunOperation,
  listRunsOperation,
} from './runs/operations.ts';
export { type PageReport, runPage } from './runs/page.ts';
export { purgeEvalOutputs } from './runs/purge.ts';
export {
  compareTargetsOperation,
  listResultsOperation,
  listRunCasesOperation,
  listTargetScoresOperation,
} from './runs/result-operations.ts';
export { CaseRow, ComparisonView, decisions, ResultView, TargetScore } from './runs/schema.ts';
export { RunView, resultStatuses, runStatuses } from './runs/types.ts';
export {
  addCasesOperation,
  getCaseOperation,
  removeCaseOperation,
  updateCaseOperation,
} from './suites/case-operations.ts';
export { checkedCases } from './suites/check.ts';
export {
  createSuiteOperation,
  deleteSuiteOperation,
  getSuiteOperation,
  listSuitesOperation,
  patchSuiteOperation,
} from './suites/operations.ts';
export { listCasesOperation, suiteHistoryOperation } from './suites/parts.ts';
export { type CaseIn, CaseView, SuiteSummary, SuiteView } from './suites/types.ts';
