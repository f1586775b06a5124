// What the settings say about certificates that we get by ourselves.
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { Config } from '../../kernel/index.ts';
import type { AcmeSettings } from './acme.ts';

/**
 * Where certificates come from; null: from outside. @throws Error when settings do not fit each other, or a file cannot be read.
 */
export function certificateSource(
  config: Config,
): { readonly settings: AcmeSettings; readonly warn_days: number } | null {
  const settings = acmeSettings(config);
  return settings === null ? null : { settings, warn_days: config.acme_warn_days };
}

function acmeSettings(config: Config): AcmeSettings | null {
  const { acme_directory_url: directory_url, acme_email: email, acme_ca_file } = config;
  const { acme_eab_kid: kid, acme_eab_key: key, storefront_base } = config;
  if (directory_url === null) return null;
  if (storefront_base === null)
    throw new Error('SVC_ACME_DIRECTORY_URL needs SVC_STOREFRONT_BASE: without it there are no storefronts.');
  if ((kid === null) !== (key === null))
    throw new Error('SVC_ACME_EAB_KID and SVC_ACME_EAB_KEY go together: set both or neither.');
  const ca = acme_ca_file === null ? null : [...rootCertificates, readFileSync(acme_ca_file, 'utf8')];
  const eab = kid === null || key === null ? null : { kid, key: Buffer.from(key, 'base64url') };
  return { directory_url, email, ca, eab };
}
