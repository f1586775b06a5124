// How mails leave: to an SMTP server, or as files where none is configured.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import nodemailer from 'nodemailer';
import { type Config, ConfigError, type Id, sha256Hex, within } from '../kernel/index.ts';
import { SELECTOR } from './senders/records.ts';
import type { MailFrom } from './senders/types.ts';
import type { Attachment } from './types.ts';

/** A mail as it is handed over. */
export interface Outgoing {
  readonly id: Id<'mail'>;
  /** Template and reference: the name of its file. */
  readonly name: string;
  readonly to: string;
  /** The address in the form in which it is compared. */
  readonly to_key: string;
  /** Whom it comes from; null: the service's own address. */
  readonly from: MailFrom | null;
  /** When it was asked for: the same in every attempt. */
  readonly date: Date;
  /** Whose name the mail bears in place of the configured one. */
  readonly from_name?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly Attachment[];
}

export interface MailTransport {
  /**
   * Hands `mail` over and returns what the server answered. @throws Error with `code`, and where a server answered
   * `responseCode`, `command` and `response`.
   */
  send(mail: Outgoing): Promise<string>;
  close(): Promise<void>;
}

/** Who sends, and where what cannot be delivered comes back. */
interface Sender {
  /** `Name <address>` or an address. */
  readonly from: string;
  /** Domain of Message-IDs. */
  readonly domain: string;
  /** Domain that bounces go to, each to an address that names its mail; null: they go to `from`. */
  readonly bounce_domain: string | null;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
const TOTAL_MS = 60_000;
const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** The message as nodemailer takes it. Every attempt makes the same, under the same Message-ID. */
function messageOf(mail: Outgoing, service: Sender) {
  const { id, to, date, subject, text, html, attachments, from: reseller } = mail;
  const { from, domain } = reseller === null ? service : { ...reseller, from: reseller.address };
  // A reseller's bounces come to us by the name that it has published; where we take none, nobody's mailbox gets them.
  const bounce_domain = reseller === null ? service.bounce_domain : `bounce.${domain}`;
  const has_bounces = service.bounce_domain !== null;
  const returns = has_bounces ? `${id.toLowerCase()}@${bounce_domain}` : service.from;
  return {
    // As an object, so that nothing in an address is read as a second one.
    to: { name: '', address: to },
    from: mail.from_name === undefined ? from : { name: mail.from_name, address: addressOf(from) },
    ...{ date, subject, text, html },
    envelope: { from: returns, to: [to] },
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    attachments: attachments.map(({ filename, content_type: contentType, content }) => {
      return { filename, contentType, content: Buffer.from(content) };
    }),
    ...(reseller === null
      ? {}
      : { dkim: { domainName: domain, keySelector: SELECTOR, privateKey: reseller.private_key } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/**
 * Writes each mail to `<folder>/<template>-<reference>-<address>.eml`, whole or not at all; the address is shown as eight
 * hexadecimal digits of its SHA-256. A mail that is sent again replaces its file.
 */
function openFolder(folder: string, sender: Sender, dkim: Dkim | undefined): MailTransport {
  const composer = nodemailer.createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim,
  });
  return {
    async send(mail) {
      const { message } = await composer.sendMail(messageOf(mail, sender));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${mail.name}-${sha256Hex(mail.to_key).slice(0, 8)}.eml`);
      await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${path}.part`, path);
      return 'written to a file';
    },
    close: async () => {},
  };
}

/** The address in `Name <address>`. */
function addressOf(from: string): string {
  return /<([^>]+)>\s*$/.exec(from)?.[1] ?? from;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Connection to the server of `url`: `smtps://` speaks TLS from the first byte, `smtp://` must be able to change to it
 * (STARTTLS), but for this machine and where `?tls=optional` says so (`?tls=required`: this machine too).
 */
function connectionOf(url: URL, ca: string | undefined) {
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const asked = url.searchParams.get('tls') ?? (isLoopback(host) ? 'optional' : 'required');
  const secure = url.protocol === 'smtps:';
  return {
    host,
    port: url.port === '' ? DEFAULT_PORTS[url.protocol as keyof typeof DEFAULT_PORTS] : Number(url.port),
    secure,
    requireTLS: !secure && asked !== 'optional',
    tls: { ...(ca === undefined ? {} : { ca }), minVersion: 'TLSv1.2' as const },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
  };
}

interface Dkim {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKey: string;
}

function openSmtp(
  url: URL,
  sender: Sender,
  with_: { ca: string | undefined; dkim: Dkim | undefined },
): MailTransport {
  const pool = nodemailer.createTransport({
    ...connectionOf(url, with_.ca),
    pool: true,
    maxConnections: 4,
    maxMessages: 100,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    dkim: with_.dkim,
  });
  return {
    async send(mail) {
      const sent = pool.sendMail(messageOf(mail, sender));
      const { response } = await within(TOTAL_MS, sent, 'the mail server').catch((error: unknown) => {
        if (error instanceof Error && !('code' in error)) Object.assign(error, { code: 'ETIMEDOUT' });
        throw error;
      });
      return response;
    },
    close: async () => pool.close(),
  };
}

function domainOf(from: string): string {
  return /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? '';
}

async function readFileOf(variable: string, path: string | null): Promise<string | undefined> {
  if (path === null) return undefined;
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError([`${variable}: ${error.message}`]);
  });
}

/**
 * The way out that the configuration names. Nothing is connected yet. @throws ConfigError for a key file that cannot be
 * read, and for a server without an address to send from.
 */
export async function openMailTransport(
  config: Pick<
    Config,
    | 'data_dir'
    | 'smtp_url'
    | 'smtp_ca_file'
    | 'mail_from'
    | 'mail_domain'
    | 'mail_dkim_key_file'
    | 'mail_dkim_selector'
  >,
): Promise<MailTransport> {
  const { smtp_url, mail_from, mail_domain } = config;
  const from = mail_from ?? 'svc <no-reply@svc.invalid>';
  if (smtp_url !== null && mail_from === null)
    throw new ConfigError(['SVC_MAIL_FROM: required where SVC_SMTP_URL is set']);
  const domain = domainOf(from);
  const sender: Sender = {
    from,
    domain,
    bounce_domain: mail_domain === null ? null : `bounce.${mail_domain}`,
  };
  const key = await readFileOf('SVC_MAIL_DKIM_KEY_FILE', config.mail_dkim_key_file);
  const dkim =
    key === undefined
      ? undefined
      : { domainName: domain, keySelector: config.mail_dkim_selector, privateKey: key };
  if (smtp_url === null) return openFolder(join(config.data_dir, 'mail'), sender, dkim);
  const ca = await readFileOf('SVC_SMTP_CA_FILE', config.smtp_ca_file);
  return openSmtp(new URL(smtp_url), sender, { ca, dkim });
}
