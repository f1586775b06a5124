// Publishes a version of a legal document from a file.
import { readFileSync } from 'node:fs';
import { documentKinds, publishVersion } from '@svc/core/legal/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    kind: { type: 'text', doc: 'which document', choices: documentKinds, required: true },
    version: { type: 'text', doc: 'a date, maybe with .2 after it', value: 'DATE', required: true },
    file: { type: 'text', doc: 'the text, in Markdown', value: 'FILE', required: true },
    title: { type: 'text', doc: 'what it is called', length_max: 120, required: true },
    summary: { type: 'text', doc: 'what it says or changes', length_max: 500, required: true },
    acceptance: {
      type: 'text',
      doc: 'whether owners have to accept it',
      choices: ['yes', 'no'],
      required: true,
    },
    effective: { type: 'text', doc: 'RFC 3339; as soon as may be unless given', value: 'TIME' },
  },
  example:
    'svcctl legal publish --kind tos --version 2027-01-15 --file terms.txt --title "Terms of service" --summary "A clearer section on refunds." --acceptance yes',
  async run(input) {
    const effective = input.find('effective');
    const kind = documentKinds.find((one) => one === input.get('kind'));
    if (kind === undefined) throw new UsageError('there is no such kind');
    if (effective !== null && Number.isNaN(Date.parse(effective)))
      throw new UsageError('--effective is not a time');
    const text = readFileSync(input.get('file'), 'utf8');
    return withDatabase(async (pool) => {
      const made = await publishVersion(await staffContext(pool), {
        ...{ kind, version: input.get('version'), title: input.get('title'), summary: input.get('summary') },
        ...{ requires_acceptance: input.get('acceptance') === 'yes', text },
        ...(effective === null ? {} : { effective_at: new Date(effective) }),
      });
      const { version, effective_at } = made;
      return {
        json: { kind, version, effective_at },
        text: `${kind} ${version} takes effect on ${effective_at.toISOString()}; customers are told`,
      };
    });
  },
};
