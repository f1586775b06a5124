// What the service has to say to the organization now.
import {
  AnnouncementView,
  announcementSeverities,
  listAnnouncementsOperation,
} from '@svc/core/support/index.ts';
import { builder, derive } from '../builder.ts';

derive.enum('AnnouncementSeverity', announcementSeverities);
const Announcement = derive.output('Announcement', AnnouncementView);

builder.queryFields((t) => ({
  announcements: t.field({
    type: [Announcement],
    nullable: true,
    description: 'What the service has to say now, the gravest first.',
    extensions: { operation: listAnnouncementsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listAnnouncementsOperation, {})).data,
  }),
}));
