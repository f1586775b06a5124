// All operations of evaluations.
import { runOperations } from './runs/operations.ts';
import { resultOperations } from './runs/result-operations.ts';
import { caseOperations } from './suites/case-operations.ts';
import { suiteOperations } from './suites/parts.ts';

export const evalOperations = [
  ...suiteOperations,
  ...caseOperations,
  ...runOperations,
  ...resultOperations,
] as const;
