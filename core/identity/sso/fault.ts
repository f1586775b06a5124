// Why a provider could not be used, in one word that is shown and logged; nothing of what it sent is.
type SsoReason =
  // Both kinds of providers.
  | 'unsafe_url'
  | 'provider_unreachable'
  | 'provider_refused'
  | 'answer_invalid'
  | 'algorithm_unsupported'
  | 'email_missing'
  // OpenID Connect.
  | 'discovery_invalid'
  | 'email_unverified'
  // SAML.
  | 'metadata_invalid'
  | 'metadata_expired'
  | 'entity_unknown'
  | 'binding_unsupported'
  | 'certificate_invalid'
  | 'answer_too_large'
  | 'answer_malformed'
  | 'answer_encrypted'
  | 'signature_invalid'
  | 'request_unknown'
  | 'replayed'
  | 'issuer_wrong'
  | 'audience_wrong'
  | 'recipient_wrong'
  | 'destination_wrong'
  | 'expired'
  | 'not_yet_valid'
  | 'proof_stale'
  | 'email_ambiguous';

export class SsoFault extends Error {
  readonly reason: SsoReason;

  constructor(reason: SsoReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}
