// Graders: how the text of an answer becomes a score (docs/evaluations/suites-and-runs.md#graders).
import { type Static, Type } from 'typebox';
import { named, oneOf } from '../../kernel/index.ts';

export const graderKinds = ['exact', 'contains', 'regex', 'json_schema', 'numeric', 'judge'] as const;
export type GraderKind = (typeof graderKinds)[number];
const containsModes = ['all', 'any', 'none'] as const;
const numberPicks = ['last', 'first'] as const;

const number = Type.Union([Type.Number(), Type.String({ maxLength: 400 })], {
  description: 'a number, or a decimal in a string, whose digits are all kept',
});

/**
 * One object for all kinds, so that a fault is told by the path of the member and not as "none of six forms".
 * `check.ts` says which member belongs to which kind.
 */
export const GraderIn = named(
  'EvalGrader',
  Type.Object(
    {
      kind: oneOf(graderKinds, 'EvalGraderKind'),
      expected: Type.Optional(
        Type.Union(
          [Type.String(), Type.Number(), Type.Array(Type.String(), { minItems: 1, maxItems: 100 })],
          {
            description: 'exact, contains: a text or a list; numeric: a number, or a decimal in a string',
          },
        ),
      ),
      trim: Type.Optional(Type.Boolean({ description: 'exact: without white space around; default true' })),
      ignore_case: Type.Optional(Type.Boolean({ description: 'exact, contains; default false' })),
      mode: Type.Optional(oneOf(containsModes, 'EvalContainsMode')),
      pattern: Type.Optional(Type.String({ maxLength: 1_024, description: 'regex, in RE2 syntax' })),
      flags: Type.Optional(Type.String({ pattern: '^[ims]{0,3}$', description: 'regex; of i, m, s' })),
      full_match: Type.Optional(Type.Boolean({ description: 'regex: the whole text; default false' })),
      schema: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'json_schema (draft 2020-12), 64 KiB at most',
        }),
      ),
      abs: Type.Optional(number),
      rel: Type.Optional(number),
      pick: Type.Optional(oneOf(numberPicks, 'EvalNumberPick')),
      model: Type.Optional(Type.String({ maxLength: 200, description: 'judge; default: that of the run' })),
      rubric: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000, description: 'judge' })),
      scale: Type.Optional(Type.Integer({ minimum: 2, maximum: 10, description: 'judge; default 5' })),
      threshold: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'judge; default 4' })),
      reference: Type.Optional(Type.String({ maxLength: 100_000, description: 'judge: a right answer' })),
    },
    { additionalProperties: false },
  ),
);
export type Grader = Static<typeof GraderIn>;

/** What a grader says of a text. `score` is from 0 to 1; `detail` holds no more than a few hundred characters. */
export interface Verdict {
  readonly passed: boolean;
  readonly score: number;
  readonly detail: Readonly<Record<string, unknown>>;
}
