// A change of an organization's data policy: a merge patch over the present one. Pure.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf } from '../kernel/index.ts';
import { DEFAULT_DATA_POLICY, type OrgDataPolicy } from '../orgs/index.ts';
import { checkPatterns, PATTERN_LENGTH_MAX, PATTERNS_MAX, presets } from '../redaction/index.ts';

const closed = { additionalProperties: false } as const;

/** JSON merge patch (RFC 7396): absent is unchanged, null is the default. */
export const DataPolicyPatch = named(
  'DataPolicyPatch',
  Type.Object(
    {
      logging: Type.Optional(nullable(oneOf(['on', 'off'], 'OnOff'))),
      retention_days: Type.Optional(
        nullable(Type.Integer({ minimum: 0, maximum: 365, description: '0: nothing is stored' })),
      ),
      zdr: Type.Optional(nullable(Type.Boolean())),
      no_train: Type.Optional(nullable(Type.Boolean())),
      regions: Type.Optional(
        nullable(
          Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100, uniqueItems: true }),
        ),
      ),
      redact: Type.Optional(
        nullable(
          Type.Object(
            {
              presets: Type.Optional(
                nullable(
                  Type.Array(oneOf(presets, 'RedactionPreset'), {
                    maxItems: presets.length,
                    uniqueItems: true,
                  }),
                ),
              ),
              patterns: Type.Optional(
                nullable(
                  Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_LENGTH_MAX }), {
                    maxItems: PATTERNS_MAX,
                    description: 'RE2 syntax',
                  }),
                ),
              ),
            },
            closed,
          ),
        ),
      ),
    },
    closed,
  ),
);
export type DataPolicyPatch = Static<typeof DataPolicyPatch>;

function pick<T>(patch: T | null | undefined, now: T, standard: T): T {
  if (patch === undefined) return now;
  return patch === null ? standard : patch;
}

/**
 * `now` with `patch` merged in; null stands for the default.
 * @throws ServiceError invalid_pattern, `param` below `data_policy.redact.patterns`.
 */
export function mergeDataPolicy(now: OrgDataPolicy, patch: DataPolicyPatch | null): OrgDataPolicy {
  if (patch === null) return DEFAULT_DATA_POLICY;
  const standard = DEFAULT_DATA_POLICY;
  const redact =
    patch.redact === undefined || patch.redact === null
      ? pick(patch.redact, now.redact, standard.redact)
      : {
          presets: pick(patch.redact.presets, now.redact?.presets ?? [], []),
          patterns: pick(patch.redact.patterns, now.redact?.patterns ?? [], []),
        };
  if (patch.redact?.patterns != null) checkPatterns(patch.redact.patterns, 'data_policy.redact.patterns');
  return {
    logging: pick(patch.logging, now.logging, standard.logging),
    retention_days: pick(patch.retention_days, now.retention_days, standard.retention_days),
    zdr: pick(patch.zdr, now.zdr, standard.zdr),
    no_train: pick(patch.no_train, now.no_train, standard.no_train),
    regions: pick(patch.regions, now.regions, standard.regions),
    redact: redact ?? standard.redact,
  };
}
