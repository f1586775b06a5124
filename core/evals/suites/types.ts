// A suite: cases with an input for a model and a grader for its answer.
import { type Static, Type } from 'typebox';
import { type Id, idOf, lineOf, named, Time } from '../../kernel/index.ts';
import { GraderIn } from '../grade/types.ts';

export const CASES_MAX = 5_000;
/** The body of a suite; other bodies of management may have 1 MiB. */
export const SUITE_BODY = { bytes: 8_388_608, items: 400_000 } as const;
const CASE_ID_MAX = 128;

const anyObject = Type.Record(Type.String(), Type.Unknown());

const CaseInput = named(
  'EvalCaseInput',
  Type.Object(
    {
      model: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'for targets that name none' }),
      ),
      messages: Type.Array(anyObject, {
        minItems: 1,
        maxItems: 1_000,
        description: 'as in `POST /v1/svc/generate`',
      }),
      system: Type.Optional(Type.String({ maxLength: 1_000_000, description: 'becomes the first message' })),
      generation: Type.Optional(anyObject),
      tools: Type.Optional(Type.Array(anyObject, { maxItems: 128 })),
    },
    { additionalProperties: false },
  ),
);

const caseMembers = {
  input: CaseInput,
  grader: GraderIn,
};

/** What a case has besides its id. */
export const caseFields = {
  ...caseMembers,
  weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000, description: 'default 1' })),
  tags: Type.Optional(Type.Array(lineOf(64), { maxItems: 16 })),
};

export const CaseIn = named(
  'EvalCaseIn',
  Type.Object({ id: Type.Optional(lineOf(CASE_ID_MAX)), ...caseFields }, { additionalProperties: false }),
);
export type CaseIn = Static<typeof CaseIn>;

export const CaseView = named(
  'EvalCase',
  Type.Object({
    id: Type.String(),
    ...caseMembers,
    weight: Type.Number(),
    tags: Type.Array(Type.String()),
  }),
);
export type CaseView = Static<typeof CaseView>;

const summary = {
  id: idOf('eval_suite'),
  org_id: idOf('org'),
  name: Type.String(),
  revision: Type.Integer({ description: 'rises when the cases change; runs keep theirs' }),
  case_count: Type.Integer(),
  created_at: Time,
  updated_at: Time,
};
/** In lists, which would have megabytes of cases. */
export const SuiteSummary = named('EvalSuiteSummary', Type.Object(summary));
export type SuiteSummary = Static<typeof SuiteSummary>;
export const SuiteView = named('EvalSuite', Type.Object({ ...summary, cases: Type.Array(CaseView) }));

export const SuiteRevision = named(
  'EvalSuiteRevision',
  Type.Object({
    revision: Type.Integer(),
    case_count: Type.Integer(),
    runs: Type.Integer({ description: 'runs that keep it' }),
    current: Type.Boolean({ description: 'what the next run takes' }),
  }),
);
export type SuiteRevision = Static<typeof SuiteRevision>;

export interface Suite {
  readonly id: Id<'eval_suite'>;
  readonly org_id: Id<'org'>;
  readonly name: string;
  readonly revision: number;
  readonly case_count: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A case as it is stored and run. */
export interface Case {
  readonly case_no: number;
  readonly case_id: string;
  readonly body: Omit<CaseView, 'id'>;
}
