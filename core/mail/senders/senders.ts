// Making the key of a sender, looking for its records, and whom mails come from.
import {
  type Config,
  type Db,
  type Id,
  openColumn,
  type RootKeyRing,
  rsaKeyPair,
  sealColumn,
} from '../../kernel/index.ts';
import { findSender } from './store.ts';
import type { MailFrom, MailSender } from './types.ts';

const COLUMN = 'mail_sender.private_key';
/** RFC 8301 3.2: signers use at least this many, and every verifier takes them. */
const KEY_BITS = 2_048;

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** Host at which the service takes mails that could not be delivered; absent: that of no configuration. */
    readonly mail_return_host?: string;
  }
}

/** The host at which mails that could not be delivered are taken: `bounce.` and the domain that the service mails from. */
export function returnHostOf({ mail_domain, mail_from }: Pick<Config, 'mail_domain' | 'mail_from'>): string {
  const of_from = /@([^\s@>]+)>?\s*$/.exec(mail_from ?? '')?.[1];
  return `bounce.${mail_domain ?? of_from ?? 'svc.invalid'}`;
}

/** A new key of the sender of `org_id`: the public half as it is published, the private half sealed. */
export async function makeSenderKey(
  root_key: RootKeyRing,
  org_id: Id<'org'>,
): Promise<Pick<MailSender, 'public_key' | 'private_key'>> {
  const { public_der, private_pem } = await rsaKeyPair(KEY_BITS);
  return {
    public_key: public_der.toString('base64'),
    private_key: sealColumn(root_key, COLUMN, [org_id], Buffer.from(private_pem)),
  };
}

/**
 * Whom mails to customers of the reseller `org_id` come from; null: the service's own address, because the reseller has no
 * sender or its records are not there.
 */
export async function findMailFrom(
  db: Db,
  root_key: RootKeyRing,
  org_id: Id<'org'>,
): Promise<MailFrom | null> {
  const sender = await findSender(db, org_id);
  if (sender === null || sender.status !== 'verified') return null;
  const { domain, from_local, private_key } = sender;
  return {
    ...{ address: `${from_local}@${domain}`, domain },
    private_key: openColumn(root_key, COLUMN, [org_id], private_key).toString(),
  };
}
