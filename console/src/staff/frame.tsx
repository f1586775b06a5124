// The frame of every page of staff: a band that says where one is, the rail, and one field that finds organizations.
import '../app/shell.css';
import { Outlet, useLocation } from '@tanstack/react-router';
import { type FormEvent, lazy, type Ref, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Provider } from 'urql';
import { createClient } from '../api/client.ts';
import { loadSession, type Session, useSessionState } from '../api/session.ts';
import { AccountMenu, OfflineNote, useFocusOnArrival } from '../app/frame.tsx';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Empty, ErrorBox } from '../ui/states.tsx';
import { To, useGo } from './go.tsx';
import { useRoles } from './realm.ts';

const SideDrawer = lazy(() => import('../app/overlays.tsx').then((m) => ({ default: m.SideDrawer })));
const SessionEnded = lazy(() =>
  import('./session-ended.tsx').then((m) => ({ default: m.StaffSessionEnded })),
);

interface NavItem {
  readonly href: string;
  readonly name: string;
  readonly icon: IconName;
  readonly key: string;
}

const nav: readonly NavItem[] = [
  { href: '/', name: 'Find', icon: 'search', key: 'f' },
  { href: '/queue', name: 'Queue', icon: 'alert-triangle', key: 'q' },
  { href: '/reviews', name: 'Reviews', icon: 'eye', key: 'r' },
  { href: '/approvals', name: 'Approvals', icon: 'users', key: 'v' },
  { href: '/disputes', name: 'Disputes', icon: 'refresh', key: 'd' },
  { href: '/limits', name: 'Limits', icon: 'gauge', key: 'l' },
  { href: '/plans', name: 'Plans', icon: 'file-invoice', key: 'p' },
  { href: '/access', name: 'Access', icon: 'users', key: 's' },
  { href: '/tickets', name: 'Tickets', icon: 'user', key: 't' },
  { href: '/announcements', name: 'Announcements', icon: 'player-play', key: 'a' },
  { href: '/legal', name: 'Legal', icon: 'file-invoice', key: 'g' },
  { href: '/erasures', name: 'Erasures', icon: 'x', key: 'e' },
  { href: '/codes', name: 'Codes', icon: 'key', key: 'c' },
  { href: '/mails', name: 'Mails', icon: 'mail', key: 'm' },
  { href: '/operations', name: 'Operations', icon: 'clock', key: 'o' },
  { href: '/prices', name: 'Prices', icon: 'gauge', key: 'i' },
  { href: '/rankings', name: 'Rankings', icon: 'eye', key: 'k' },
  { href: '/resellers', name: 'Resellers', icon: 'wallet', key: 'x' },
];

/** What the page of one matter is called in the title. */
const nameOf = (pathname: string) => (pathname.startsWith('/resellers/') ? 'Reseller' : 'Organization');

export function NotFound() {
  return (
    <main className="outside">
      <div className="card">
        <Empty
          page
          title="There is nothing at this address"
          actions={
            <To className="btn" href="/">
              Go to Find
            </To>
          }
        >
          Organizations are found by id, slug or a part of the name.
        </Empty>
      </div>
    </main>
  );
}

function Rail({ onLeave }: { onLeave?: () => void }) {
  const roles = useRoles();
  return (
    <nav className="rail" aria-label="Main">
      <div className="rail-group">
        {nav.map((item) => (
          <To key={item.href} className="rail-link" href={item.href} onClick={() => onLeave?.()}>
            <Icon name={item.icon} />
            {item.name}
          </To>
        ))}
      </div>
      <div className="rail-foot">
        <span className="rail-name">Your roles: {roles.join(', ')}</span>
      </div>
    </nav>
  );
}

/** The one field: Enter opens the page of what was found. */
function FindField({ ref }: { ref: Ref<HTMLInputElement> }) {
  const go = useGo();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const q = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    if (q === '') return;
    event.currentTarget.reset();
    go(`/?q=${encodeURIComponent(q)}`);
  };
  return (
    <form className="find-id" onSubmit={submit}>
      <Icon name="search" size={15} />
      <input
        ref={ref}
        name="q"
        className="input"
        placeholder="Find an organization"
        aria-label="Id, slug or part of a name"
        aria-keyshortcuts="/"
        autoComplete="off"
        spellCheck={false}
        maxLength={254}
      />
      <span className="kbd" aria-hidden="true">
        /
      </span>
    </form>
  );
}

function Inside({ session, ended }: { session: Session; ended: boolean }) {
  const [menu, setMenu] = useState(false);
  const find = useRef<HTMLInputElement>(null);
  const { pathname } = useLocation();
  const go = useGo();
  useFocusOnArrival();
  useShortcuts({
    ...Object.fromEntries(nav.map((item) => [`g ${item.key}`, () => go(item.href)])),
    '/': () => find.current?.focus(),
  });
  useEffect(() => {
    document.title = `Staff · ${nav.find(({ href }) => href === pathname)?.name ?? nameOf(pathname)}`;
  }, [pathname]);
  const close = () => setMenu(false);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <aside className="staff-band" aria-label="Staff">
        <b>Staff</b> <span>Each look and each act here is an entry of the audit log.</span>
      </aside>
      <div className="shell">
        <div className="rail-side">
          <Rail />
        </div>
        <div className="shell-main">
          <header className="top">
            <Button className="rail-open" icon="menu-2" aria-label="Menu" onClick={() => setMenu(true)} />
            <FindField ref={find} />
            <div className="grow top-space" />
            <AccountMenu user={session.user} onLeft={() => go('/sign-in')} />
          </header>
          <OfflineNote />
          <main className="page" id="main" tabIndex={-1}>
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense fallback={null}>
        {menu && (
          <SideDrawer onClose={close}>
            <Rail onLeave={close} />
          </SideDrawer>
        )}
        {ended && <SessionEnded email={session.user.email} />}
      </Suspense>
    </>
  );
}

/** The server does not answer. */
function Unreachable() {
  const state = useSessionState();
  if (state.kind !== 'unreachable') return null;
  return (
    <main className="outside">
      <div className="card">
        <ErrorBox fault={state.fault} onRetry={() => void loadSession()} />
      </div>
    </main>
  );
}

export function StaffFrame() {
  const state = useSessionState();
  const csrf = state.kind === 'signed_in' ? state.session.csrf_token : undefined;
  // A new session gets a new client, so that what the old one was refused is asked again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the token stands for the session
  const client = useMemo(() => createClient(null), [csrf]);
  if (state.kind !== 'signed_in') return <Unreachable />;
  return (
    <Provider value={client} key={state.session.user.id}>
      <Inside session={state.session} ended={state.ended} />
    </Provider>
  );
}
