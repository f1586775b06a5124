// Make, read, change and delete suites.
import { type Static, Type } from 'typebox';
import { writeAudit } from '../../identity/index.ts';
import {
  type Context,
  idOf,
  isId,
  lineOf,
  Nothing,
  notFound,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  refuseOtherVersion,
  ServiceError,
  sendVersion,
  walkPage,
} from '../../kernel/index.ts';
import { checkedCases } from './check.ts';
import {
  deleteSuite,
  deleteUnusedCases,
  findSuite,
  insertCases,
  insertSuite,
  listSuites,
  lockSuite,
  readCases,
  updateSuite,
} from './store.ts';
import { CASES_MAX, CaseIn, SUITE_BODY, type Suite, SuiteSummary, SuiteView } from './types.ts';

export const evalReaders = {
  kind: 'key',
  scopes: ['read:usage'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
export const evalWriters = {
  kind: 'key',
  scopes: ['inference'],
  session: ['owner', 'admin', 'developer'],
} as const;
const DEFAULT_LIMIT = 50;

/** In a body, for who cannot send `If-Match`, and for those who changed nothing but the name meanwhile. */
export const expectedRevision = {
  expected_revision: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: 2_147_483_647 },
      description: 'the revision that was read: refused with 412 when the cases have changed since',
    }),
  ),
};

/** @throws ServiceError precondition_failed where the cases have changed since the caller read them. */
export function refuseOtherRevision(suite: Suite, expected: number | undefined): void {
  if (expected === undefined || expected === suite.revision) return;
  throw new ServiceError(
    'precondition_failed',
    'The cases have changed since they were read. Read them again.',
    {
      param: 'expected_revision',
      details: { revision: suite.revision },
    },
  );
}

const cases = Type.Array(CaseIn, { minItems: 1, maxItems: CASES_MAX });

const exampleCase: CaseIn & { id: string } = {
  id: 'capital-of-france',
  input: { messages: [{ role: 'user', content: 'What is the capital of France? One word.' }] },
  grader: { kind: 'exact', expected: 'Paris', ignore_case: true },
};

export const exampleSummary: SuiteSummary = {
  id: 'es_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  name: 'Capitals',
  revision: 1,
  case_count: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
};
export const suiteExample: Static<typeof SuiteView> = {
  ...exampleSummary,
  cases: [{ ...exampleCase, weight: 1, tags: [] }],
};

/** A suite as lists show it. */
export function summaryOf(suite: Suite): SuiteSummary {
  const { id, org_id, name, revision, case_count } = suite;
  return {
    ...{ id, org_id, name, revision, case_count },
    created_at: suite.created_at.toISOString(),
    updated_at: suite.updated_at.toISOString(),
  };
}

async function viewOf(context: Context, suite: Suite): Promise<Static<typeof SuiteView>> {
  const rows = await readCases(context.db, {
    ...{ suite_id: suite.id, revision: suite.revision, from: 0, limit: CASES_MAX },
  });
  return { ...summaryOf(suite), cases: rows.map(({ case_id, body }) => ({ id: case_id, ...body })) };
}

/** A suite that the caller may see. @throws ServiceError not_found. */
export async function getSuiteRow(context: Context, id: string, find: typeof findSuite): Promise<Suite> {
  const { org_id } = orgCaller(context);
  const suite = isId('eval_suite', id) ? await find(context.db, { org_id, id }) : null;
  if (suite === null) throw notFound();
  return suite;
}

/** Writes an entry of the audit log about a suite. */
export function record(
  context: Context,
  action: string,
  { org_id, id, name, revision }: Suite,
): Promise<void> {
  const target = { type: 'eval_suite', id, display: name };
  return writeAudit(context, { action, org_id, target, after: { revision } });
}

export const listSuitesOperation = operation({
  name: 'evals.suites.list',
  method: 'GET',
  path: '/v1/evals/suites',
  summary: 'List suites without their cases, newest first',
  audience: evalReaders,
  input: Type.Object(pageInput(200)),
  output: pageOf(SuiteSummary),
  errors: [],
  example: { object: 'list', data: [exampleSummary], next_cursor: '' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `evals.suites.list ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listSuites(context.db, { org_id, after, limit }),
      placeOf: (suite) => ({ at: suite.created_at.getTime(), id: suite.id }),
    });
    return page(rows.map(summaryOf), next_cursor, cursorAt);
  },
});

export const getSuiteOperation = operation({
  name: 'evals.suites.get',
  method: 'GET',
  path: '/v1/evals/suites/:id',
  summary: 'Read a suite with its cases',
  audience: evalReaders,
  input: Type.Object({ id: idOf('eval_suite') }),
  output: SuiteView,
  errors: [],
  versioned: true,
  example: suiteExample,
  async run(context, { id }) {
    const suite = await getSuiteRow(context, id, findSuite);
    sendVersion(context, suite.updated_at);
    return viewOf(context, suite);
  },
});

export const createSuiteOperation = operation({
  name: 'evals.suites.create',
  method: 'POST',
  path: '/v1/evals/suites',
  summary: 'Make a suite of up to 5,000 cases',
  audience: evalWriters,
  input: Type.Object({ name: lineOf(120), cases }),
  output: SuiteView,
  errors: [],
  status: 201,
  body_limit: SUITE_BODY,
  request: { name: 'Capitals', cases: [exampleCase] },
  example: suiteExample,
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const checked = checkedCases(input.cases);
    return context.transaction(async (context) => {
      const suite = await insertSuite(context.db, {
        ...{ id: context.newId('eval_suite'), org_id, name: input.name },
        ...{ case_count: checked.length, at: context.now() },
      });
      await insertCases(context.db, { suite_id: suite.id, revision: 1, cases: checked });
      await record(context, 'evals.suites.create', suite);
      return viewOf(context, suite);
    });
  },
});

export const patchSuiteOperation = operation({
  name: 'evals.suites.update',
  method: 'PATCH',
  path: '/v1/evals/suites/:id',
  summary: 'Rename a suite, or give it other cases in a new revision',
  audience: evalWriters,
  input: Type.Object({
    id: idOf('eval_suite'),
    name: Type.Optional(lineOf(120)),
    cases: Type.Optional(cases),
    ...expectedRevision,
  }),
  output: SuiteView,
  errors: ['precondition_failed'],
  versioned: true,
  body_limit: SUITE_BODY,
  request: { name: 'Capitals of Europe' },
  example: { ...suiteExample, name: 'Capitals of Europe' },
  async run(context, input) {
    const checked = input.cases === undefined ? null : checkedCases(input.cases);
    return context.transaction(async (context) => {
      const old = await getSuiteRow(context, input.id, lockSuite);
      refuseOtherVersion(context, old.updated_at);
      refuseOtherRevision(old, input.expected_revision);
      if (input.name === undefined && checked === null) return viewOf(context, old);
      const suite = await updateSuite(context.db, {
        id: old.id,
        name: input.name ?? old.name,
        revision: checked === null ? old.revision : old.revision + 1,
        case_count: checked?.length ?? old.case_count,
        at: context.now(),
      });
      if (checked !== null) {
        const { id: suite_id, revision } = suite;
        await insertCases(context.db, { suite_id, revision, cases: checked });
        await deleteUnusedCases(context.db, { suite_id, revision });
      }
      await record(context, 'evals.suites.update', suite);
      return viewOf(context, suite);
    });
  },
});

export const deleteSuiteOperation = operation({
  name: 'evals.suites.delete',
  method: 'DELETE',
  path: '/v1/evals/suites/:id',
  summary: 'Delete a suite; its runs and their results stay',
  audience: evalWriters,
  input: Type.Object({ id: idOf('eval_suite'), ...expectedRevision }),
  output: Nothing,
  errors: ['precondition_failed'],
  versioned: true,
  status: 204,
  example: {},
  async run(context, { id, expected_revision }) {
    return context.transaction(async (context) => {
      const suite = await getSuiteRow(context, id, lockSuite);
      refuseOtherVersion(context, suite.updated_at);
      refuseOtherRevision(suite, expected_revision);
      await deleteSuite(context.db, suite);
      await deleteUnusedCases(context.db, { suite_id: suite.id, revision: null });
      await record(context, 'evals.suites.delete', suite);
      return {};
    });
  },
});
