// Read a suite in parts: its revisions, and the cases of one, page after page.
import { Type } from 'typebox';
import { idOf, named, operation, page, pageInput, pageOf, walkPage } from '../../kernel/index.ts';
import {
  createSuiteOperation,
  deleteSuiteOperation,
  evalReaders,
  exampleSummary,
  getSuiteOperation,
  getSuiteRow,
  listSuitesOperation,
  patchSuiteOperation,
  suiteExample,
  summaryOf,
} from './operations.ts';
import { findSuite, readCases, readRevisions } from './store.ts';
import { CaseView, SuiteRevision, SuiteSummary } from './types.ts';

const CASES_DEFAULT = 50;

const SuiteHistory = named(
  'EvalSuiteHistory',
  Type.Object({ suite: SuiteSummary, revisions: Type.Array(SuiteRevision) }),
);

export const suiteHistoryOperation = operation({
  name: 'evals.suites.history',
  method: 'GET',
  path: '/v1/evals/suites/:id/history',
  summary: 'Read a suite without its cases, with the revisions that are kept, newest first',
  audience: evalReaders,
  input: Type.Object({ id: idOf('eval_suite') }),
  output: SuiteHistory,
  errors: [],
  example: { suite: exampleSummary, revisions: [{ revision: 1, case_count: 1, runs: 0, current: true }] },
  async run(context, { id }) {
    const suite = await getSuiteRow(context, id, findSuite);
    return { suite: summaryOf(suite), revisions: await readRevisions(context.db, suite) };
  },
});

export const listCasesOperation = operation({
  name: 'evals.suites.cases',
  method: 'GET',
  path: '/v1/evals/suites/:id/cases',
  summary: 'List the cases of a suite in their order, of the present revision or another',
  audience: evalReaders,
  input: Type.Object({
    id: idOf('eval_suite'),
    revision: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
    ...pageInput(200),
  }),
  output: pageOf(CaseView),
  errors: [],
  example: { object: 'list', data: suiteExample.cases, next_cursor: '' },
  async run(context, input) {
    const suite = await getSuiteRow(context, input.id, findSuite);
    const revision = input.revision ?? suite.revision;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `evals.suites.cases ${suite.id} ${revision}`,
      cursor: input.cursor,
      limit: input.limit ?? CASES_DEFAULT,
      read: (after, limit) => {
        const from = after === null ? 0 : after.at + 1;
        return readCases(context.db, { suite_id: suite.id, revision, from, limit });
      },
      placeOf: ({ case_no }) => ({ at: case_no, id: '' }),
    });
    return page(
      rows.map(({ case_id, body }) => ({ id: case_id, ...body })),
      next_cursor,
      cursorAt,
    );
  },
});

export const suiteOperations = [
  listSuitesOperation,
  getSuiteOperation,
  suiteHistoryOperation,
  listCasesOperation,
  createSuiteOperation,
  patchSuiteOperation,
  deleteSuiteOperation,
] as const;
