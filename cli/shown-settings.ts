// The settings of programs as they are shown: secrets masked.
import { type Config, type Setting, settings } from '@svc/core/kernel/index.ts';

/** Values by the name of their variable. */
export type ShownSettings = Readonly<Record<string, unknown>>;

/** What `config` holds, to be shown or kept. */
export function shownSettings(config: Config): ShownSettings {
  const values = config as Readonly<Record<string, unknown>>;
  const rows = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const value = values[name];
    return [setting.env, setting.secret === true && value !== null ? '(set, secret)' : value] as const;
  });
  return Object.fromEntries(rows);
}
