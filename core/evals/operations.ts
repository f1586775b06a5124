// All operations of evaluations.
import { runOperations } from './runs/operations.ts';
import { resultOperations } from './runs/result-operations.ts';
import { suiteOperations } from './suites/parts.ts';

export const evalOperations = [...suiteOperations, ...runOperations, ...resultOperations] as const;
