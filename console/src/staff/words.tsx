// What the API calls states, as staff read them.
import type { FoundOrgFragment } from '../api/gen/staff/graphql.ts';
import { Status, type Tone } from '../ui/status.tsx';

const tones: Readonly<Record<FoundOrgFragment['status'], Tone>> = {
  ACTIVE: 'ok',
  SUSPENDED: 'warn',
  CLOSED: 'mute',
};

export function OrgStatus({ status }: { status: FoundOrgFragment['status'] }) {
  return (
    <Status tone={tones[status]} plain>
      {status.toLowerCase()}
    </Status>
  );
}
