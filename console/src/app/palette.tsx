// Everything that can be gone to or done, by typing its name; and a pasted request id opens the call.
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { type Session, signOut } from '../api/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { matching, type Offer, requestIdOf } from './found.ts';
import { itemsFor } from './nav.ts';
import { may, useOrg } from './org.tsx';

function useOffers({ session, onKeys }: { session: Session; onKeys: () => void }): readonly Offer[] {
  const place = useOrg();
  const { slug, env, role } = place;
  const navigate = useNavigate();
  const params = { org: slug, env };
  const other = env === 'live' ? 'sandbox' : 'live';
  return [
    ...itemsFor(place).map(
      ({ page, name }): Offer => ({
        name,
        kind: 'Page',
        act: () => void navigate({ to: `/$org/$env/${page}`, params }),
      }),
    ),
    { name: 'Your account', kind: 'Page', act: () => void navigate({ to: '/$org/$env/profile', params }) },
    ...(may(role, 'keys')
      ? [
          {
            name: 'Create key',
            kind: 'Action',
            act: () => void navigate({ to: '/$org/$env/keys', params, search: { create: true } }),
          } as const,
        ]
      : []),
    ...(may(role, 'money')
      ? [
          {
            name: 'Add credits',
            kind: 'Action',
            act: () =>
              void navigate({
                to: '/$org/$env/credits',
                params: { org: slug, env: 'live' },
                search: { add: true },
              }),
          } as const,
        ]
      : []),
    {
      name: `Switch to ${other}`,
      kind: 'Action',
      act: () => void navigate({ to: '/$org/$env/home', params: { org: slug, env: other } }),
    },
    { name: 'Keyboard shortcuts', kind: 'Action', act: onKeys },
    {
      name: 'Sign out',
      kind: 'Action',
      act: () => void signOut().then(() => navigate({ to: '/sign-in' })),
    },
    ...session.orgs
      .filter((org) => org.slug !== slug)
      .map(
        (org): Offer => ({
          name: org.name,
          kind: 'Organisation',
          act: () => void navigate({ to: '/$org/$env/home', params: { org: org.slug, env } }),
        }),
      ),
  ];
}

interface PaletteProps {
  readonly session: Session;
  readonly onClose: () => void;
  readonly onKeys: () => void;
}

function Found(props: { list: string; found: readonly Offer[]; at: number; onTake: (offer: Offer) => void }) {
  const { list, found, at, onTake } = props;
  return (
    <div className="palette" role="listbox" id={list} aria-label="What was found">
      {found.map((offer, i) => (
        <button
          type="button"
          role="option"
          tabIndex={-1}
          id={`${list}-${i}`}
          key={`${offer.kind} ${offer.name}`}
          aria-selected={i === at}
          onClick={() => onTake(offer)}
        >
          <span className="grow ellipsis">{offer.name}</span>
          <span className="sub">{offer.kind}</span>
        </button>
      ))}
    </div>
  );
}

export function Palette(props: PaletteProps) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const offers = useOffers(props);
  const id = requestIdOf(text);
  const open: Offer | null =
    id === null
      ? null
      : {
          name: `Open call ${id}`,
          kind: 'Call',
          act: () => void navigate({ to: '/$org/$env/requests/$id', params: { org: slug, env, id } }),
        };
  const found = open ? [open] : matching(offers, text);
  const take = (offer: Offer | undefined) => {
    if (offer === undefined) return;
    props.onClose();
    offer.act();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === 'Enter') take(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" size={480} onClose={props.onClose}>
      <input
        className="input palette-input"
        role="combobox"
        aria-label="Page, action, organisation or request id"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found[at] ? `${list}-${at}` : undefined}
        placeholder="Page, action, organisation or request id"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        data-autofocus
      />
      <Found list={list} found={found} at={at} onTake={take} />
      {found.length === 0 && (
        <p className="sub palette-none" role="status">
          Nothing has this name.
        </p>
      )}
    </Dialog>
  );
}
