// What the service has to say now: bands over the page. One that is not critical can be put away in this browser.
import { useState } from 'react';
import { useQuery } from 'urql';
import { AnnouncementsDocument, type AnnouncementsQuery } from '../api/gen/graphql.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';
import { readPutAway, rememberPutAway } from './place.ts';

type Said = NonNullable<AnnouncementsQuery['announcements']>[number];

function Band({ said, onPutAway }: { said: Said; onPutAway: () => void }) {
  const grave = said.severity === 'CRITICAL';
  return (
    <li className="announcement" data-severity={said.severity.toLowerCase()}>
      <Icon name={said.severity === 'INFO' ? 'mail' : 'alert-triangle'} size={16} />
      <div className="grow">
        <b>{said.title}</b> <span className="announcement-body">{said.body}</span>{' '}
        {said.endsAt && (
          <span className="sub">
            ends <Time at={said.endsAt} />
          </span>
        )}
      </div>
      {!grave && <Button kind="quiet" icon="x" aria-label={`Put away: ${said.title}`} onClick={onPutAway} />}
    </li>
  );
}

export function Announcements() {
  const [{ data }] = useQuery({ query: AnnouncementsDocument, requestPolicy: 'cache-and-network' });
  const [away, setAway] = useState(readPutAway);
  const shown = (data?.announcements ?? []).filter(
    ({ id, severity }) => severity === 'CRITICAL' || !away.includes(id),
  );
  if (shown.length === 0) return null;
  const putAway = (id: string) => {
    setAway([id, ...away]);
    rememberPutAway([id, ...away]);
  };
  return (
    <aside aria-label="Announcements">
      <ul className="announcements">
        {shown.map((said) => (
          <Band key={said.id} said={said} onPutAway={() => putAway(said.id)} />
        ))}
      </ul>
    </aside>
  );
}
