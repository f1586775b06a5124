// Seals every value under the current key of the ring, while all programs work; can be ended and begun again.
import { writeAudit } from '@svc/core/identity/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { type Resealed, readKeyRingStatus, resealAll } from '@svc/core/keyring/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { keyRingFile, rootKey, withDatabase } from '../../installation.ts';
import { untilFollowed } from './flags.ts';
import { outdated } from './shown.ts';

/** On the second channel, so that `--json` prints one object and nothing else. */
const tell = ({ column, resealed }: Resealed) => process.stderr.write(`${column}: ${resealed} sealed anew\n`);

export const command: Command = {
  example: 'svcctl keyring rotate',
  run: () =>
    withDatabase(async (pool) => {
      const ring = rootKey();
      await untilFollowed(keyRingFile());
      const context = await staffContext(pool);
      const { columns, unopened } = await resealAll(pool, ring, tell);
      const status = await readKeyRingStatus(pool, ring, now());
      const current = status.keys.find(({ is_current }) => is_current);
      const remaining = outdated(status);
      const resealed = columns.reduce((sum, one) => sum + one.resealed, 0);
      const target = { type: 'root_key', id: current?.id ?? '', display: current?.name ?? '' };
      await context.transaction((context) =>
        writeAudit(context, {
          ...{ action: 'keyring.rotate', org_id: null, target },
          after: { resealed, remaining, unopened: unopened.length },
        }),
      );
      const lines = columns
        .filter((one) => one.resealed + one.unopened > 0)
        .map((one) => `${String(one.resealed).padStart(9)}  ${one.column}`);
      lines.push(...unopened.map(({ column, row }) => `no key opens ${column} of ${row}`));
      lines.push(`${resealed} values are now under ${target.display}, ${remaining} remain under other keys`);
      if (remaining > unopened.length) lines.push('Others wrote meanwhile: run it again.');
      return {
        json: { key: target, resealed, remaining, columns, unopened },
        ...{ text: lines.join('\n'), ok: remaining === 0 },
      };
    }),
};
