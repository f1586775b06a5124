// Every operation of the service, once. Surfaces bind what stands here; the walks of test/registry read it.
import { analyticsOperations } from '../analytics/index.ts';
import { budgetOperations } from '../budgets/index.ts';
import { byokOperations } from '../byok/index.ts';
import { catalogOperations } from '../catalog/index.ts';
import { closingOperations, staffClosingOperations } from '../closing/index.ts';
import { creditOperations, staffCreditOperations } from '../credits/index.ts';
import { deskOperations } from '../desk/index.ts';
import { evalOperations } from '../evals/index.ts';
import { figureOperations, staffFigureOperations } from '../figures/index.ts';
import { giftOperations } from '../gifts/index.ts';
import {
  beginLookOperation,
  identityOperations,
  staffListenerOperations as ofStaff,
  staffAccessOperations,
  staffAdmissionOperations,
} from '../identity/index.ts';
import { invoiceOperations } from '../invoices/index.ts';
import type { Audience, ErrorCode, Operation } from '../kernel/index.ts';
import { keyOperations } from '../keys/index.ts';
import { legalOperations, staffLegalOperations } from '../legal/index.ts';
import { mandateOperations } from '../mandates/index.ts';
import { orgErasureOperations, staffOrgErasureOperations } from '../org-erasure/index.ts';
import { orgExportOperations } from '../org-export/index.ts';
import { orgOperations } from '../orgs/index.ts';
import { planOperations, sheetOperations, staffPlanOperations } from '../plans/index.ts';
import { policyOperations } from '../policies/index.ts';
import { privacyOperations } from '../privacy/index.ts';
import { redactionOperations } from '../redaction/index.ts';
import { redeemOperations, staffRedeemOperations } from '../redeem/index.ts';
import { refundOperations, staffRefundOperations } from '../refunds/index.ts';
import { resellerOperations, staffResellerOperations } from '../resellers/index.ts';
import { rolloutOperations } from '../rollouts/index.ts';
import { routingOperations } from '../routing/index.ts';
import { storefrontOperations } from '../storefronts/index.ts';
import { staffSupportOperations, supportOperations } from '../support/index.ts';
import { publicOperations, type RailName, staffTopupOperations, topupOperations } from '../topups/index.ts';
import { webhookOperations } from '../webhooks/index.ts';

/** All operations, in the order of the documentation. @throws Error (at load) on a doubled name or route. */
export const operations: readonly Operation[] = checked([
  ...catalogOperations,
  ...figureOperations,
  ...analyticsOperations,
  ...keyOperations,
  ...supportOperations,
  ...byokOperations,
  ...policyOperations,
  ...redactionOperations,
  ...rolloutOperations,
  ...routingOperations,
  ...creditOperations,
  ...giftOperations,
  ...redeemOperations,
  ...topupOperations,
  ...refundOperations,
  ...mandateOperations,
  ...publicOperations,
  ...invoiceOperations,
  ...evalOperations,
  ...webhookOperations,
  ...orgOperations,
  ...closingOperations,
  ...orgErasureOperations,
  ...orgExportOperations,
  ...planOperations,
  ...budgetOperations,
  ...privacyOperations,
  ...legalOperations,
  ...resellerOperations,
  ...storefrontOperations,
  ...identityOperations,
] as unknown as Operation[]);

/** How people come in, which the admin listener mounts too: sign-in, what the link of an invitation leads to, whose it is. */
export const signInOperations: readonly Operation[] = operations.filter(({ path }) =>
  /^\/v1\/(?:(?:auth|invitations)\/|(?:access-requests|storefront)(?:\/|$))/.test(path),
);

/** Files that people download in the console, which has GraphQL for everything else. */
export const fileOperations: readonly Operation[] = operations.filter(
  ({ name, produces }) =>
    produces === 'application/pdf' ||
    produces === 'application/zip' ||
    produces === 'text/markdown' ||
    name === 'audit.list' ||
    name === 'privacy.export',
);

/** What staff do; reached through the GraphQL of the staff listener, never over REST. */
export const staffOperations: readonly Operation[] = checked([
  ...staffCreditOperations,
  ...staffRedeemOperations,
  ...deskOperations,
  ...staffTopupOperations,
  ...staffFigureOperations,
  ...staffRefundOperations,
  ...staffSupportOperations,
  ...staffAccessOperations,
  beginLookOperation,
  ...staffAdmissionOperations,
  ...staffPlanOperations,
  ...staffClosingOperations,
  ...staffOrgErasureOperations,
  ...sheetOperations,
  ...staffLegalOperations,
  ...staffResellerOperations,
] as unknown as Operation[]);

/** Sign-in of staff, mounted by the staff listener alone. */
export const staffListenerOperations: readonly Operation[] = checked(ofStaff as unknown as Operation[]);

function checked(all: readonly Operation[]): readonly Operation[] {
  const seen = new Set<string>();
  for (const { name, method, path } of all) {
    for (const mark of [name, `${method} ${path.replaceAll(/:[a-z_]+/g, ':')}`]) {
      if (seen.has(mark)) throw new Error(`operation declared twice: ${mark}`);
      seen.add(mark);
    }
  }
  return all;
}

/** A route that streams by itself but has the same facts: audience, errors and a place in the document. */
export interface InferenceRoute {
  readonly name: string;
  readonly method: 'POST';
  readonly path: string;
  readonly summary: string;
  readonly audience: Audience;
  readonly errors: readonly ErrorCode[];
  /** Wire format, also of errors. */
  readonly dialect:
    | 'chat'
    | 'messages'
    | 'responses'
    | 'completions'
    | 'embeddings'
    | 'embed'
    | 'rerank'
    | 'native';
}

const inferenceErrors = [
  'invalid_json',
  'invalid_request',
  'unsupported_parameter',
  'unsupported_version',
  'invalid_pattern',
  'context_length_exceeded',
  'invalid_media',
  'media_fetch_failed',
  'content_filtered',
  'no_endpoint_available',
  'insufficient_credits',
  'budget_exhausted',
  'permission_denied',
  'policy_denied',
  'byok_key_rejected',
  'misdirected_request',
  'org_inactive',
  'model_not_found',
  'idempotency_in_progress',
  'idempotency_conflict',
  'idempotency_replay_unavailable',
  'request_too_large',
  'unsupported_media_type',
  'rate_limit_exceeded',
  'upstream_rate_limited',
  'internal',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_incomplete',
  'overloaded',
  'upstream_overloaded',
  'service_unavailable',
  'upstream_timeout',
  'deadline_exceeded',
] as const satisfies readonly ErrorCode[];
/** A dry run holds nothing, calls nobody and is never a repeat. */
const dryRunErrors = inferenceErrors.filter(
  (code) =>
    !/^(?:upstream_|idempotency_|media_)|^(?:insufficient_credits|budget_exhausted|deadline_exceeded)$/.test(
      code,
    ),
);
const callers = { kind: 'key', scopes: ['inference'], x_api_key: true } as const satisfies Audience;
/** People may ask about calls, as their default project would make them. */
const askers = { ...callers, session: ['owner', 'admin', 'developer'] } as const satisfies Audience;

export const inferenceRoutes: readonly InferenceRoute[] = [
  {
    name: 'chat.completions.create',
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Chat completions',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'chat',
  },
  {
    name: 'messages.create',
    method: 'POST',
    path: '/v1/messages',
    summary: 'Messages',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'messages',
  },
  {
    name: 'responses.create',
    method: 'POST',
    path: '/v1/responses',
    summary: 'Responses, without stored conversations',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'responses',
  },
  {
    name: 'completions.create',
    method: 'POST',
    path: '/v1/completions',
    summary: 'Completions, for older clients',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'completions',
  },
  {
    name: 'svc.generate',
    method: 'POST',
    path: '/v1/svc/generate',
    summary: 'Generate, in our own strict format',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'native',
  },
  {
    name: 'svc.dry_run',
    method: 'POST',
    path: '/v1/svc/dry_run',
    summary: 'Dry run: where a call would go and what it would hold',
    audience: askers,
    errors: dryRunErrors,
    dialect: 'native',
  },
  {
    name: 'svc.count_tokens',
    method: 'POST',
    path: '/v1/svc/count_tokens',
    summary: 'Count tokens of a generate call',
    audience: askers,
    errors: dryRunErrors,
    dialect: 'native',
  },
  {
    name: 'messages.count_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    summary: 'Count tokens of a messages call',
    audience: callers,
    errors: dryRunErrors,
    dialect: 'messages',
  },
  {
    name: 'responses.input_tokens',
    method: 'POST',
    path: '/v1/responses/input_tokens',
    summary: 'Count tokens of a responses call',
    audience: callers,
    errors: dryRunErrors,
    dialect: 'responses',
  },
  {
    name: 'embeddings.create',
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'Embeddings',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'embeddings',
  },
  {
    name: 'svc.embed',
    method: 'POST',
    path: '/v1/svc/embed',
    summary: 'Embed texts and images, in our own format',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'embed',
  },
  {
    name: 'svc.rerank',
    method: 'POST',
    path: '/v1/svc/rerank',
    summary: 'Rerank documents by their relevance to a query',
    audience: callers,
    errors: inferenceErrors,
    dialect: 'rerank',
  },
];

/** A callback of a rail: bound with its raw bytes, verified by its signature. */
interface CallbackRoute {
  readonly name: string;
  readonly method: 'POST';
  readonly path: string;
  readonly rail: RailName;
  readonly summary: string;
  readonly audience: Audience & { readonly kind: 'signed' };
  /** Lower case. */
  readonly signature_header: string;
  /** The header that names the event; null where the body does. */
  readonly event_header: string | null;
  readonly errors: readonly ErrorCode[];
}

export const callbackRoutes: readonly CallbackRoute[] = [
  {
    name: 'topups.callback.rail_a',
    method: 'POST',
    path: '/webhooks/rail-a',
    rail: 'rail-a',
    summary: 'Events of rail-a',
    audience: { kind: 'signed' },
    signature_header: 'x-razorpay-signature',
    event_header: 'x-razorpay-event-id',
    errors: ['signature_invalid', 'invalid_json', 'service_unavailable'],
  },
  {
    name: 'topups.callback.rail_b',
    method: 'POST',
    path: '/webhooks/rail-b',
    rail: 'rail-b',
    summary: 'Events of rail-b',
    audience: { kind: 'signed' },
    signature_header: 'stripe-signature',
    event_header: null,
    errors: ['signature_invalid', 'signature_expired', 'invalid_json', 'service_unavailable'],
  },
];
