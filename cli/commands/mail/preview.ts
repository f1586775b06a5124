// Writes templates of mails with made-up data, to be looked at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTemplate, render, type TemplateName, templates } from '@svc/core/mail/index.ts';
import type { Command } from '../../command.ts';

const names = Object.keys(templates) as TemplateName[];

export const command: Command = {
  flags: {
    template: { type: 'text', doc: 'one template; absent: all', choices: names },
    out: {
      type: 'text',
      doc: 'folder for NAME.txt and NAME.html; absent: the text is printed',
      value: 'FOLDER',
    },
  },
  example: 'svcctl mail preview --out previews',
  async run(input) {
    const only = input.find('template');
    const out = input.find('out');
    if (out !== null) mkdirSync(out, { recursive: true });
    const written = names
      .filter((name) => only === null || name === only)
      .map((name) => {
        const template = findTemplate(name);
        if (template === null) throw new Error(`no template ${name}`);
        const link = template.secret === true ? '/example?token=example' : '';
        const around = { console_url: 'https://console.example', product: 'svc' };
        const said = render(template.content(template.sample, link), around);
        if (out !== null) {
          writeFileSync(join(out, `${name}.txt`), `Subject: ${said.subject}\n\n${said.text}`);
          writeFileSync(join(out, `${name}.html`), said.html);
        }
        return { template: name, ...said };
      });
    const lines = written.map(({ template, subject, text }) =>
      out === null ? `=== ${template}\nSubject: ${subject}\n\n${text}` : `${template.padEnd(24)} ${subject}`,
    );
    return { json: { mails: written }, text: lines.join('\n') };
  },
};
