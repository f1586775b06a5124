// Checks the cases of a suite beyond their form: ids, graders, and that every input is a request that can be sent.
import { builtIn, type Dialect } from '../../inference/index.ts';
import { type JsonObject, ServiceError } from '../../kernel/index.ts';
import { graderFault } from '../grade/check.ts';
import type { Case, CaseIn, CaseView } from './types.ts';

const CALL_PATH = '/v1/svc/generate';
const FAULTS_MAX = 20;

interface CaseFault {
  readonly param: string;
  readonly reason: string;
  readonly message: string;
}

/** The dialect that cases are written in. */
export function caseDialect(): Dialect {
  return builtIn.dialects.get(CALL_PATH) as Dialect;
}

/** The messages of a case, its system text first. */
export function messagesOf({ messages, system }: CaseView['input']): JsonObject[] {
  const first = system === undefined ? [] : [{ role: 'system', content: system }];
  return [...first, ...(messages as JsonObject[])];
}

/** The body of the call that `input` makes of `model`. */
export function bodyOf(input: CaseView['input'], model: string): JsonObject {
  const { generation, tools } = input;
  return {
    model,
    messages: messagesOf(input),
    ...(generation === undefined ? {} : { generation }),
    ...(tools === undefined ? {} : { tools }),
  };
}

/** A parameter of the call as one of the case: `system` is a message there, so the others follow it. */
function paramOf(input: CaseView['input'], param: string | null): string {
  if (param === null) return '';
  if (input.system === undefined) return `.${param}`;
  const path = param.replace(/^messages\[(\d+)\]/, (_, n: string) => `messages[${Number(n) - 1}]`);
  return path.startsWith('messages[-1]') ? '.system' : `.${path}`;
}

function inputFault(input: CaseView['input'], at: string): CaseFault | null {
  try {
    caseDialect().read(bodyOf(input, input.model ?? 'any/model'), {});
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { param: at + paramOf(input, error.param), reason: 'format', message: error.message };
  }
}

function refuse(faults: readonly CaseFault[]): ServiceError {
  const [first] = faults as readonly [CaseFault];
  return new ServiceError('invalid_request', first.message, { param: first.param, details: { faults } });
}

function* faultsOf(cases: readonly CaseIn[], ids: readonly string[]): Generator<CaseFault> {
  const seen = new Map<string, number>();
  for (const [i, { input, grader }] of cases.entries()) {
    const at = `cases[${i}]`;
    const id = ids[i] as string;
    const twin = seen.get(id);
    if (twin !== undefined) {
      const message = `${at}.id is that of cases[${twin}]: ${JSON.stringify(id)}.`;
      yield { param: `${at}.id`, reason: 'unique', message };
    }
    seen.set(id, i);
    const fault = graderFault(grader, `${at}.grader`) ?? inputFault(input, `${at}.input`);
    if (fault !== null) yield fault;
  }
}

/** `cases` as they are stored. @throws ServiceError invalid_request with the paths of at most 20 faults. */
export function checkedCases(cases: readonly CaseIn[]): Case[] {
  const ids = cases.map(({ id }, i) => id ?? `case_${i + 1}`);
  const faults: CaseFault[] = [];
  for (const fault of faultsOf(cases, ids)) {
    faults.push(fault);
    if (faults.length === FAULTS_MAX) break;
  }
  if (faults.length > 0) throw refuse(faults);
  return cases.map(({ input, grader, weight = 1, tags = [] }, case_no) => ({
    case_no,
    case_id: ids[case_no] as string,
    body: { input, grader, weight, tags },
  }));
}
