// Wire shapes of mandates and automatic top-up.
import { type Static, Type } from 'typebox';
import { type Context, idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { checkoutUrl, mandateMethods, railNames } from '../topups/index.ts';
import { attemptStatuses, type Mandate, mandateStatuses } from './types.ts';

const Micro = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const AutoTopupConfig = named(
  'AutoTopupConfig',
  Type.Object({
    enabled: Type.Boolean(),
    threshold_micro: Type.Integer({
      description: 'credits are bought when available and held fall below it',
    }),
    amount_minor: Type.Integer({ description: 'what is bought, in the smallest unit, without tax' }),
  }),
);

export const MandateView = named(
  'Mandate',
  Type.Object({
    id: idOf('mandate'),
    org_id: idOf('org'),
    gateway: oneOf(railNames, 'Rail'),
    method: oneOf(mandateMethods, 'MandateMethod'),
    mandate_ref: nullable(Type.String({ description: "the rail's name of the registration" })),
    token_ref: nullable(Type.String({ description: "the rail's name of what is debited" })),
    max_amount_minor: Type.Integer({ description: 'the most of one debit, with tax' }),
    currency: Type.String(),
    status: oneOf(mandateStatuses, 'MandateStatus'),
    reason: Type.String({ description: 'why it is not active; empty while it is' }),
    auto_topup: AutoTopupConfig,
    notify_hours: Type.Integer({ description: 'how long a debit is announced before it is made' }),
    consecutive_failures: Type.Integer(),
    registered_at: nullable(Time),
    expires_at: Time,
    ends_at: nullable(Time),
    created_at: Time,
    registration_url: Type.Optional(
      Type.String({ description: 'where it is registered, while it is pending' }),
    ),
  }),
);
export type MandateView = Static<typeof MandateView>;

export const nextSteps = ['off', 'watching', 'blocked', 'announcing', 'waiting', 'charging'] as const;

export const AutoTopupView = named(
  'AutoTopup',
  Type.Object({
    mandate: nullable(MandateView),
    config: AutoTopupConfig,
    rail: oneOf(railNames, 'Rail'),
    methods: Type.Array(oneOf(mandateMethods, 'MandateMethod')),
    cap_minor: nullable(Type.Integer({ description: 'the most of one debit, with tax' })),
    notify_hours: nullable(Type.Integer()),
    currency: Type.String(),
    min_amount_minor: Type.Integer(),
    next: Type.Object({
      step: oneOf(nextSteps, 'AutoTopupStep'),
      reason: Type.String({ description: 'why it is off or blocked; empty otherwise' }),
      at: nullable(Time),
      topup_id: nullable(idOf('topup')),
      total_minor: nullable(Type.Integer({ description: 'what the next debit takes, with tax' })),
      can_skip: Type.Boolean(),
    }),
    last_attempt: nullable(
      Type.Object({
        topup_id: nullable(idOf('topup')),
        status: oneOf([...attemptStatuses, 'blocked'] as const, 'AutoTopupAttemptStatus'),
        reason: Type.String(),
        message: Type.String(),
        at: Time,
      }),
    ),
  }),
);
export type AutoTopupView = Static<typeof AutoTopupView>;

export const SetAutoTopup = Type.Object({
  enabled: Type.Boolean(),
  threshold_micro: Micro,
  amount_minor: Micro,
});

/** A mandate as the API shows it. */
export function viewMandate(
  context: Context,
  mandate: Mandate,
  auto_topup: Static<typeof AutoTopupConfig>,
): MandateView {
  const { status, registration_url } = mandate;
  const open_url = status === 'pending' ? registration_url : null;
  return {
    id: mandate.id,
    org_id: mandate.org_id,
    gateway: mandate.gateway,
    method: mandate.method,
    mandate_ref: mandate.setup_ref,
    token_ref: mandate.token_ref,
    max_amount_minor: mandate.max_amount_minor,
    currency: mandate.currency,
    status,
    reason: mandate.reason ?? '',
    auto_topup: { ...auto_topup },
    notify_hours: mandate.notify_hours,
    consecutive_failures: mandate.consecutive_failures,
    registered_at: mandate.registered_at?.toISOString() ?? null,
    expires_at: mandate.expires_at.toISOString(),
    ends_at: mandate.ends_at?.toISOString() ?? null,
    created_at: mandate.created_at.toISOString(),
    ...(open_url === null
      ? {}
      : { registration_url: checkoutUrl(context, { ...mandate, checkout_url: open_url }) }),
  };
}
