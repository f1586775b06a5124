// The one list of refusals. HTTP status, error type in each dialect, `x-should-retry`, GraphQL code and workflow
// retry all derive from this table. docs/errors.md documents it, and a test compares the two.

interface Code {
  readonly status: number;
  /** Anthropic's error types, used in every dialect so that none is translated. */
  readonly type:
    | 'invalid_request_error'
    | 'authentication_error'
    | 'billing_error'
    | 'permission_error'
    | 'not_found_error'
    | 'conflict_error'
    | 'rate_limit_error'
    | 'api_error'
    | 'overloaded_error'
    | 'timeout_error';
  /** Whether the same request, sent again unchanged, can succeed later. */
  readonly retry: boolean;
}

export const codes = {
  invalid_json: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_request: { status: 400, type: 'invalid_request_error', retry: false },
  unsupported_parameter: { status: 400, type: 'invalid_request_error', retry: false },
  unsupported_version: { status: 400, type: 'invalid_request_error', retry: false },
  context_length_exceeded: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_media: { status: 400, type: 'invalid_request_error', retry: false },
  media_fetch_failed: { status: 400, type: 'invalid_request_error', retry: false },
  content_filtered: { status: 400, type: 'invalid_request_error', retry: false },
  no_endpoint_available: { status: 400, type: 'invalid_request_error', retry: false },
  signature_invalid: { status: 400, type: 'invalid_request_error', retry: false },
  signature_expired: { status: 400, type: 'invalid_request_error', retry: false },
  confirm_mismatch: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_pattern: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_policy: { status: 400, type: 'invalid_request_error', retry: false },
  unsafe_url: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_gstin: { status: 400, type: 'invalid_request_error', retry: false },
  amount_too_small: { status: 400, type: 'invalid_request_error', retry: false },
  amount_above_cap: { status: 400, type: 'invalid_request_error', retry: false },
  amount_too_large: { status: 400, type: 'invalid_request_error', retry: false },
  currency_not_supported: { status: 400, type: 'invalid_request_error', retry: false },
  range_too_long: { status: 400, type: 'invalid_request_error', retry: false },
  token_invalid: { status: 400, type: 'invalid_request_error', retry: false },
  token_expired: { status: 400, type: 'invalid_request_error', retry: false },
  weak_password: { status: 400, type: 'invalid_request_error', retry: false },
  challenge_failed: { status: 400, type: 'invalid_request_error', retry: false },
  authentication_required: { status: 401, type: 'authentication_error', retry: false },
  invalid_api_key: { status: 401, type: 'authentication_error', retry: false },
  session_expired: { status: 401, type: 'authentication_error', retry: false },
  invalid_credentials: { status: 401, type: 'authentication_error', retry: false },
  invalid_totp: { status: 401, type: 'authentication_error', retry: false },
  insufficient_credits: { status: 402, type: 'billing_error', retry: false },
  budget_exhausted: { status: 402, type: 'billing_error', retry: false },
  payment_hold: { status: 402, type: 'billing_error', retry: false },
  permission_denied: { status: 403, type: 'permission_error', retry: false },
  grant_required: { status: 403, type: 'permission_error', retry: false },
  session_required: { status: 403, type: 'permission_error', retry: false },
  ip_not_allowed: { status: 403, type: 'permission_error', retry: false },
  two_factor_required: { status: 403, type: 'permission_error', retry: false },
  reauthentication_required: { status: 403, type: 'permission_error', retry: false },
  sso_required: { status: 403, type: 'permission_error', retry: false },
  sso_failed: { status: 403, type: 'permission_error', retry: false },
  sso_domain_unverified: { status: 403, type: 'permission_error', retry: false },
  user_not_provisioned: { status: 403, type: 'permission_error', retry: false },
  csrf_failed: { status: 403, type: 'permission_error', retry: false },
  sandbox_key_not_allowed: { status: 403, type: 'permission_error', retry: false },
  org_inactive: { status: 403, type: 'permission_error', retry: false },
  legal_acceptance_required: { status: 403, type: 'permission_error', retry: false },
  invite_required: { status: 403, type: 'permission_error', retry: false },
  managed_elsewhere: { status: 403, type: 'permission_error', retry: false },
  pending_approval: { status: 403, type: 'permission_error', retry: false },
  feature_disabled: { status: 403, type: 'permission_error', retry: false },
  policy_denied: { status: 403, type: 'permission_error', retry: false },
  byok_key_rejected: { status: 403, type: 'permission_error', retry: false },
  not_found: { status: 404, type: 'not_found_error', retry: false },
  model_not_found: { status: 404, type: 'not_found_error', retry: false },
  route_not_found: { status: 404, type: 'not_found_error', retry: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retry: false },
  conflict: { status: 409, type: 'conflict_error', retry: false },
  domain_taken: { status: 409, type: 'conflict_error', retry: false },
  already_exists: { status: 409, type: 'conflict_error', retry: false },
  state_conflict: { status: 409, type: 'conflict_error', retry: false },
  version_mismatch: { status: 409, type: 'conflict_error', retry: false },
  last_owner: { status: 409, type: 'conflict_error', retry: false },
  erasure_pending: { status: 409, type: 'conflict_error', retry: false },
  org_closed: { status: 409, type: 'conflict_error', retry: false },
  in_use: { status: 409, type: 'conflict_error', retry: false },
  checkin_already_done: { status: 409, type: 'conflict_error', retry: false },
  code_already_used: { status: 409, type: 'conflict_error', retry: false },
  gift_own_org: { status: 409, type: 'conflict_error', retry: false },
  plan_limit_reached: { status: 409, type: 'conflict_error', retry: false },
  mandate_exists: { status: 409, type: 'conflict_error', retry: false },
  refund_in_progress: { status: 409, type: 'conflict_error', retry: false },
  refund_exceeds_unused: { status: 409, type: 'conflict_error', retry: false },
  refund_window_closed: { status: 409, type: 'conflict_error', retry: false },
  idempotency_in_progress: { status: 409, type: 'conflict_error', retry: true },
  idempotency_replay_unavailable: { status: 409, type: 'conflict_error', retry: false },
  gone: { status: 410, type: 'not_found_error', retry: false },
  precondition_failed: { status: 412, type: 'invalid_request_error', retry: false },
  request_too_large: { status: 413, type: 'invalid_request_error', retry: false },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retry: false },
  misdirected_request: { status: 421, type: 'invalid_request_error', retry: false },
  idempotency_conflict: { status: 422, type: 'conflict_error', retry: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', retry: true },
  too_many_attempts: { status: 429, type: 'rate_limit_error', retry: true },
  upstream_rate_limited: { status: 429, type: 'rate_limit_error', retry: true },
  client_closed: { status: 499, type: 'api_error', retry: false },
  internal: { status: 500, type: 'api_error', retry: true },
  upstream_error: { status: 502, type: 'api_error', retry: true },
  upstream_invalid_response: { status: 502, type: 'api_error', retry: true },
  upstream_incomplete: { status: 502, type: 'api_error', retry: true },
  overloaded: { status: 503, type: 'overloaded_error', retry: true },
  upstream_overloaded: { status: 503, type: 'overloaded_error', retry: true },
  service_unavailable: { status: 503, type: 'overloaded_error', retry: true },
  rail_unavailable: { status: 503, type: 'api_error', retry: true },
  challenge_unavailable: { status: 503, type: 'api_error', retry: true },
  dns_unavailable: { status: 503, type: 'api_error', retry: true },
  fx_stale: { status: 503, type: 'api_error', retry: true },
  upstream_timeout: { status: 504, type: 'timeout_error', retry: true },
  deadline_exceeded: { status: 504, type: 'timeout_error', retry: false },
} as const satisfies Record<string, Code>;

export type ErrorCode = keyof typeof codes;
export type ErrorType = Code['type'];

interface ErrorExtra {
  /** Path of the field at fault, dotted and with indexes: `messages[2].content[0].text`. */
  readonly param?: string;
  readonly details?: Record<string, unknown>;
  /** Overrides the status of the table where a code has two (`no_endpoint_available`: 400 or 503). */
  readonly status?: number;
  /** Milliseconds after which a retry makes sense; becomes `retry-after`. */
  readonly retry_after_ms?: number;
  /** Members of the error object beside `details`, e.g. `excluded_by`. */
  readonly beside?: Record<string, unknown>;
}

/**
 * A refusal: the caller did something wrong or met a limit, and a code of the table says which. Anything else thrown
 * is a defect.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly details: Record<string, unknown>;
  readonly status: number;
  readonly retry_after_ms: number | null;
  readonly beside: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, extra: ErrorExtra = {}) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.param = extra.param ?? null;
    this.details = extra.details ?? {};
    this.status = extra.status ?? codes[code].status;
    this.retry_after_ms = extra.retry_after_ms ?? null;
    this.beside = extra.beside ?? {};
  }

  /** The error type that is sent. A 503 under a code whose status is normally 400 is sent as an overload. */
  get type(): ErrorType {
    const { status, type } = codes[this.code] as Code;
    return this.status === 503 && status !== 503 ? 'overloaded_error' : type;
  }

  /** Whether the same request can succeed later. */
  get retry(): boolean {
    return this.status === 503 || codes[this.code].retry;
  }
}
