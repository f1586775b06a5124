// Settings of TLS for storefronts: certificates that we get by ourselves, and the listeners that show them
// (docs/operate/storefront-tls.md).
import { address, count, httpUrl, optional } from '../config-values.ts';
import { setting } from './setting.ts';

const port = count(0, 65_535);

export const tlsSettings = {
  tls_port: setting<number | null>(
    'SVC_TLS_PORT',
    'port on which a gateway serves storefronts over TLS; unset: none',
    null,
    port,
  ),
  tls_http_port: setting<number | null>(
    'SVC_TLS_HTTP_PORT',
    'port without TLS that answers challenges of the authority and sends browsers to https; unset: none',
    null,
    port,
  ),
  tls_admin_url: setting(
    'SVC_TLS_ADMIN_URL',
    'address at which a gateway reaches the admin program, for consoles at hosts that it serves over TLS; unset: `http://127.0.0.1` and `SVC_ADMIN_PORT`',
    null,
    address,
  ),
  tls_cert_file: setting(
    'SVC_TLS_CERT_FILE',
    'PEM of a certificate for hosts that have none of their own, mostly a wildcard below `SVC_STOREFRONT_BASE`; read again when it changes',
    null,
    optional,
  ),
  tls_key_file: setting('SVC_TLS_KEY_FILE', 'PEM of the key of that certificate', null, optional),
  acme_directory_url: setting<string | null>(
    'SVC_ACME_DIRECTORY_URL',
    'directory of the authority that issues certificates of proved domains (RFC 8555); setting it agrees to its terms; unset: none are issued',
    null,
    httpUrl,
  ),
  acme_email: setting('SVC_ACME_EMAIL', 'whom the authority writes to', null, optional),
  acme_ca_file: setting(
    'SVC_ACME_CA_FILE',
    'PEM of authorities that the directory is trusted by, besides those of the machine',
    null,
    optional,
  ),
  acme_eab_kid: setting(
    'SVC_ACME_EAB_KID',
    'id of the key that binds the account to one at the authority',
    null,
    optional,
  ),
  acme_eab_key: setting('SVC_ACME_EAB_KEY', 'that key, base64url', null, optional, true),
  acme_warn_days: setting(
    'SVC_ACME_WARN_DAYS',
    'days before its end from which a certificate that was not renewed counts as expiring',
    7,
    count(1, 60),
  ),
} as const;
