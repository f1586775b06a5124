// What was written about a ticket, oldest first; the same list for customers and for staff.
import { Time } from '../../ui/time.tsx';

export interface Said {
  readonly id: string;
  readonly who: string;
  readonly text: string;
  readonly at: string;
}

export function Thread({ said }: { said: readonly Said[] }) {
  return (
    <ol className="ticket-messages" aria-label="Messages">
      {said.map(({ id, who, text, at }) => (
        <li key={id}>
          <div className="row wrap">
            <b>{who}</b>
            <span className="sub">
              <Time at={at} />
            </span>
          </div>
          <p className="ticket-words">{text}</p>
        </li>
      ))}
    </ol>
  );
}
