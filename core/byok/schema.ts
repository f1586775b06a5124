// Wire shapes of the provider key routes.
import { type Static, Type } from 'typebox';
import { OWN_KEY_FEE_BPS } from '../catalog/index.ts';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { type ByokRow, byokStatuses } from './types.ts';

export const ByokView = named(
  'ProviderKey',
  Type.Object({
    id: idOf('byok'),
    provider_id: Type.String(),
    label: Type.String(),
    hint: Type.String({ description: 'last four characters of the key, which is never shown again' }),
    status: oneOf(byokStatuses, 'ProviderKeyStatus'),
    fee_bps: Type.Integer({ description: 'share of the list cost that a call with the key costs' }),
    fallback_to_pool: Type.Boolean({
      description: 'whether the pool may answer, at its price, when the key cannot',
    }),
    created_at: Time,
    updated_at: Time,
    last_used_at: nullable(Time),
    validated_at: nullable(Time),
  }),
);
export type ByokView = Static<typeof ByokView>;

export const ByokProviderView = named(
  'Provider',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    byok_capable: Type.Boolean({ description: 'takes keys of callers' }),
    byok_required: Type.Boolean({ description: 'answers with a key of the caller alone' }),
  }),
);

export const ValidationView = named(
  'ProviderKeyValidation',
  Type.Object({
    ok: Type.Boolean(),
    provider_id: Type.String(),
    status: Type.Integer({ description: 'HTTP status of the provider; 0 without an answer' }),
    models: nullable(Type.Integer({ description: 'models that the provider lists for the key' })),
    message: nullable(
      Type.String({
        description: 'what the provider says where it does not accept the key, without the key',
      }),
    ),
  }),
);

/** A key as the API shows it. */
export function viewByok(key: ByokRow): ByokView {
  return {
    id: key.id,
    provider_id: key.provider_id,
    label: key.label,
    hint: key.hint,
    status: key.status,
    fee_bps: OWN_KEY_FEE_BPS,
    fallback_to_pool: key.fallback_to_pool,
    created_at: key.created_at.toISOString(),
    updated_at: key.updated_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    validated_at: key.validated_at?.toISOString() ?? null,
  };
}

export const byokExample = {
  id: 'byok_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  provider_id: 'openai',
  label: 'research',
  hint: '...x7Qe',
  status: 'active',
  fee_bps: 500,
  fallback_to_pool: false,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
  last_used_at: null,
  validated_at: null,
} satisfies ByokView;
