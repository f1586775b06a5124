// Settings of Temporal: how the worker reaches it, as which version, and what is encrypted there
// (docs/operate/workflows.md).
import { flag, isOrigin, list, optional, text } from '../config-values.ts';
import { setting } from './setting.ts';

export const temporalSettings = {
  temporal_address: setting('SVC_TEMPORAL_ADDRESS', 'Temporal frontend', null, optional),
  temporal_namespace: setting(
    'SVC_TEMPORAL_NAMESPACE',
    'namespace of Temporal, which must exist',
    'svc',
    text,
  ),
  temporal_tls: setting('SVC_TEMPORAL_TLS', 'reach Temporal with TLS', false, flag),
  temporal_tls_ca_file: setting(
    'SVC_TEMPORAL_TLS_CA_FILE',
    "PEM of the authority of Temporal's certificate; unset: those that the machine trusts",
    null,
    optional,
  ),
  temporal_tls_cert_file: setting(
    'SVC_TEMPORAL_TLS_CERT_FILE',
    'PEM of the certificate that the worker shows to Temporal',
    null,
    optional,
  ),
  temporal_tls_key_file: setting(
    'SVC_TEMPORAL_TLS_KEY_FILE',
    'PEM of the key of that certificate',
    null,
    optional,
  ),
  temporal_tls_server_name: setting(
    'SVC_TEMPORAL_TLS_SERVER_NAME',
    "name in Temporal's certificate; unset: the host of the address",
    null,
    optional,
  ),
  temporal_api_key: setting('SVC_TEMPORAL_API_KEY', 'API key for Temporal', null, optional, true),
  temporal_deployment: setting(
    'SVC_TEMPORAL_DEPLOYMENT',
    'name of the worker deployment, for versioned workers; unset: workers have no version',
    null,
    optional,
  ),
  temporal_build_id: setting(
    'SVC_TEMPORAL_BUILD_ID',
    'version of a versioned worker; unset: the release',
    null,
    optional,
  ),
  temporal_encrypt: setting(
    'SVC_TEMPORAL_ENCRYPT',
    'encrypt what workflows are about before it goes to Temporal; what is encrypted is read either way',
    false,
    flag,
  ),
  temporal_search: setting(
    'SVC_TEMPORAL_SEARCH',
    'start workflows with the search attributes SvcOrg and SvcState, where Temporal has or takes them',
    false,
    flag,
  ),
  temporal_decoder: setting(
    'SVC_TEMPORAL_DECODER',
    "decode encrypted payloads for staff, for Temporal's UI and command line",
    false,
    flag,
  ),
  temporal_ui_origins: setting<readonly string[] | null>(
    'SVC_TEMPORAL_UI_ORIGINS',
    "origins of Temporal's UI, with commas between, whose pages may decode with the session of staff; unset: none",
    null,
    list(isOrigin, 'origins like https://temporal.example.com, with commas between'),
  ),
};
