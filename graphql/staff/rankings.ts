// Rankings in the staff schema: which apps they can name, which are kept out, and when figures were made.
import {
  excludeAppOperation,
  getStaffFiguresOperation,
  listStaffAppsOperation,
  publishStaffFiguresOperation,
  restoreAppOperation,
  StaffAppView,
  StaffFiguresView,
} from '@svc/core/figures/index.ts';
import type { Runner } from '../run.ts';
import { pageField } from './page-field.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the apps, and the acts on them and on figures. */
export function addRankings({ builder, derive, connectionType, mutation }: Parts): void {
  const StaffApp = derive.output('StaffApp', StaffAppView);
  const StaffFigures = derive.output('StaffFigures', StaffFiguresView);
  const Apps = connectionType('StaffApp', StaffApp);
  builder.queryFields((t: Any) => ({
    rankedApps: pageField(t, {
      type: Apps,
      operation: listStaffAppsOperation,
      description: 'Apps that rankings can name, and those that are kept out, newest first.',
    }),
    publishedFigures: t.field({
      type: StaffFigures,
      nullable: true,
      description: 'When the figures for everybody were published last.',
      extensions: { operation: getStaffFiguresOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getStaffFiguresOperation, {}),
    }),
  }));
  const payload = (t: Any) => ({
    app: t.field({ type: StaffApp, resolve: (answer: unknown) => answer }),
  });
  mutation({
    name: 'excludeApp',
    operation: excludeAppOperation,
    description: 'Keeps an app out of the rankings.',
    payload,
  });
  mutation({
    name: 'restoreApp',
    operation: restoreAppOperation,
    description: 'Lets an app into the rankings again.',
    payload,
  });
  mutation({
    name: 'publishFigures',
    operation: publishStaffFiguresOperation,
    description: 'Has figures and rankings made anew.',
    payload: (t: Any) => ({
      figures: t.field({ type: StaffFigures, resolve: (answer: unknown) => answer }),
    }),
  });
}
