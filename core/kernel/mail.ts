// Sending mail. Without a mail server, mails are written to <data dir>/mail, where people and tests read them.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Mail {
  /**
   * Identifies the mail: sending it again replaces the file and sends no second mail. Letters, digits, `_` and `-`.
   */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  send(mail: Mail): Promise<void>;
}

declare module './operation/operation.ts' {
  interface Services {
    /** Absent in programs that send no mail. */
    readonly mailer?: Mailer;
  }
}

/** One header line. Line breaks in the value are removed, so that text that a person typed cannot add a header. */
function headerLine(name: string, value: string): string {
  return `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`;
}

/** A mailer that writes each mail to `<folder>/<id>.eml`, whole or not at all. */
export function openFileMailer(folder: string): Mailer {
  return {
    async send(mail) {
      if (!/^[A-Za-z0-9_-]{1,128}$/.test(mail.id)) throw new Error(`not the name of a mail: ${mail.id}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${mail.id}.eml`);
      const head = [
        headerLine('To', mail.to),
        headerLine('Subject', mail.subject),
        headerLine('Message-ID', `<${mail.id}>`),
      ];
      await writeFile(`${path}.part`, `${head.join('\r\n')}\r\n\r\n${mail.text}\r\n`, { mode: 0o600 });
      await rename(`${path}.part`, path);
    },
  };
}
