// Takes a former key out of the ring, when nothing is under it any more.
import { writeAudit } from '@svc/core/identity/index.ts';
import { loadRootKey, now, removeRootKey } from '@svc/core/kernel/index.ts';
import { type KeyRingStatus, type KeyUse, readKeyRingStatus, total } from '@svc/core/keyring/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { FILE, fileOf, NAME, shownKeys, untilFollowed } from './flags.ts';

/** Why a key is still needed; null: it is not. */
function needOf(
  { keys, unnamed, unnamed_codes }: KeyRingStatus,
  name: string,
  ends: { codes: boolean; workflows: boolean },
): string | null {
  const key = keys.find((one) => one.name === name);
  if (key === undefined) throw new UsageError(`the key ring has no key ${name}`);
  const values = total(key.sealed) + total(unnamed);
  if (values > 0) return `${values} sealed values may be under it: svcctl keyring rotate`;
  const codes = total(key.codes) + total(unnamed_codes);
  if (codes > 0 && !ends.codes)
    return `${codes} codes that people hold may be checked under it alone; --end-codes ends them`;
  return ends.workflows ? null : workflowsOf(key);
}

/** Workflows that could not go on without this key, in words; null: none. */
function workflowsOf({ workflows }: KeyUse): string | null {
  if (workflows === null || workflows.open === 0) return null;
  const counted =
    workflows.open === null ? 'workflows, not counted yet by a worker,' : `${workflows.open} workflows`;
  return `${counted} that run have payloads under it at Temporal; --end-workflows, and they cannot go on`;
}

export const command: Command = {
  flags: {
    file: FILE,
    'end-codes': { type: 'switch', doc: 'codes made under it end: gifts, credit, invite and recovery codes' },
    'end-workflows': { type: 'switch', doc: 'workflows that are encrypted under it cannot go on' },
  },
  positionals: [NAME],
  example: 'svcctl keyring remove 01KACZ3V8S6T5R4Q3P2N1M0K9J',
  run: (input) =>
    withDatabase(async (pool) => {
      const file = fileOf(input);
      const name = input.positionals[0] as string;
      const ring = loadRootKey(file);
      const needed = async () =>
        needOf(await readKeyRingStatus(pool, ring, now()), name, {
          codes: input.has('end-codes'),
          workflows: input.has('end-workflows'),
        });
      let need = await needed();
      if (need === null) {
        await untilFollowed(file);
        need = await needed();
      }
      if (need !== null) return { json: { file, name, need }, text: `${name} stays: ${need}`, ok: false };
      const id = shownKeys(file).find((key) => key.name === name)?.id ?? '';
      removeRootKey(file, name);
      const context = await staffContext(pool);
      await context.transaction((context) =>
        writeAudit(context, {
          ...{ action: 'keyring.remove', org_id: null, target: { type: 'root_key', id, display: name } },
        }),
      );
      return { json: { file, name, keys: shownKeys(file) }, text: `${name} is not in ${file} any more` };
    }),
};
