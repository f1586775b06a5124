// Sets what legal texts say of whoever runs this, and whether acceptances are insisted on.
import { changeLegalSetting } from '@svc/core/legal/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    officer: { type: 'text', doc: 'grievance officer: name and how to reach them', length_max: 200 },
    dpo: { type: 'text', doc: 'address for data protection', value: 'EMAIL', length_max: 254 },
    insist: {
      type: 'text',
      doc: 'whether an acceptance that is owed for long stops purchases, keys and calls',
      choices: ['on', 'off'],
    },
  },
  example:
    'svcctl legal set --officer "Ann Rao, grievance@svc.example" --dpo privacy@svc.example --insist on',
  async run(input) {
    const [officer, dpo, insist] = [input.find('officer'), input.find('dpo'), input.find('insist')];
    if (officer === null && dpo === null && insist === null)
      throw new UsageError('nothing to set: name a flag');
    return withDatabase(async (pool) => {
      const setting = await changeLegalSetting(await staffContext(pool), {
        ...(officer === null ? {} : { grievance_officer: officer }),
        ...(dpo === null ? {} : { dpo_email: dpo }),
        ...(insist === null ? {} : { enforced: insist === 'on' }),
      });
      const { grievance_officer, dpo_email, enforced_at } = setting;
      const lines = [
        `grievance officer  ${grievance_officer ?? 'not set'}`,
        `data protection    ${dpo_email ?? 'not set'}`,
        `insisted on        ${enforced_at === null ? 'no' : `since ${enforced_at}`}`,
      ];
      return { json: { setting }, text: lines.join('\n') };
    });
  },
};
