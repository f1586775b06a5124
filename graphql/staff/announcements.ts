// Announcements in the staff schema.
import {
  announcementAudiences,
  announcementSeverities,
  createAnnouncementOperation,
  endAnnouncementOperation,
  listStaffAnnouncementsOperation,
  StaffAnnouncementView,
} from '@svc/core/support/index.ts';
import { pageField } from './page-field.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the announcements, and the acts that make and end one. */
export function addAnnouncements({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('AnnouncementSeverity', announcementSeverities);
  derive.enum('AnnouncementAudience', announcementAudiences);
  const Announcement = derive.output('Announcement', StaffAnnouncementView);
  const Announcements = connectionType('Announcement', Announcement);
  builder.queryField('announcements', (t: Any) =>
    pageField(t, {
      type: Announcements,
      operation: listStaffAnnouncementsOperation,
      description: 'Announcements, newest first, ended ones too.',
    }),
  );
  const payload = (t: Any) => ({
    announcement: t.field({ type: Announcement, resolve: (answer: unknown) => answer }),
  });
  mutation({
    name: 'createAnnouncement',
    operation: createAnnouncementOperation,
    description: 'Says something to customers for a time.',
    payload,
  });
  mutation({
    name: 'endAnnouncement',
    operation: endAnnouncementOperation,
    description: 'Ends an announcement now.',
    payload,
  });
}
