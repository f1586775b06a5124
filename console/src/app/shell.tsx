// The frame of every page of an organisation: rail, top bar, and the page between them.
import './shell.css';
import { Menu } from '@mantine/core';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type RefObject, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Provider } from 'urql';
import { base_url, service_name, storefront } from '../api/boot.ts';
import { createClient } from '../api/client.ts';
import { type Session, useSessionState } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { FindById } from './find.tsx';
import { AccountMenu, OfflineNote, useFocusOnArrival } from './frame.tsx';
import { itemsFor, type NavPage, nav, navItems } from './nav.ts';
import { type Env, type OrgPlace, OrgProvider, useOrg } from './org.tsx';
import { NotFound } from './outside.tsx';
import { useShortcuts } from './shortcuts.ts';
import { Unreachable } from './unreachable.tsx';

// Dialogs are not part of a first load: their code comes when one is opened.
const CreateOrgDialog = lazy(() =>
  import('../pages/sign-up/create-org.tsx').then((m) => ({ default: m.CreateOrgDialog })),
);
const SideDrawer = lazy(() => import('./overlays.tsx').then((m) => ({ default: m.SideDrawer })));
const Palette = lazy(() => import('./palette.tsx').then((m) => ({ default: m.Palette })));
const ShortcutTable = lazy(() => import('./shortcut-table.tsx').then((m) => ({ default: m.ShortcutTable })));
// So is what few people ever read above a page.
const LookNote = lazy(() => import('./look-note.tsx').then((m) => ({ default: m.LookNote })));
const SuspendedNote = lazy(() => import('./suspended-note.tsx').then((m) => ({ default: m.SuspendedNote })));
const LegalNote = lazy(() => import('../pages/legal/note.tsx').then((m) => ({ default: m.LegalNote })));
const Announcements = lazy(() => import('./announcements.tsx').then((m) => ({ default: m.Announcements })));
const SellerName = lazy(() =>
  import('../pages/reseller/seller-name.tsx').then((m) => ({ default: m.SellerName })),
);
const SessionEnded = lazy(() => import('./overlays.tsx').then((m) => ({ default: m.SessionEnded })));

function OrgSwitch({ session }: { session: Session }) {
  const place = useOrg();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Menu
        withInitialFocusPlaceholder={false}
        position="bottom-start"
        width={220}
        transitionProps={{ duration: 0 }}
      >
        <Menu.Target>
          <button type="button" className="org-switch" aria-label={`Organisation ${place.name}, switch`}>
            <span className="org-mark" aria-hidden="true">
              {place.name.charAt(0).toUpperCase()}
            </span>
            <span className="grow">
              <b className="ellipsis">{place.name}</b>
              <small>{place.role}</small>
            </span>
            <Icon name="selector" size={15} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Organisations</Menu.Label>
          {session.orgs.map((org) => (
            <Menu.Item
              key={org.id}
              rightSection={org.id === place.id ? <Icon name="check" size={14} /> : null}
              onClick={() =>
                void navigate({ to: '/$org/$env/home', params: { org: org.slug, env: place.env } })
              }
            >
              {org.name} <span className="faint">· {org.role}</span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
            New organisation
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {creating && (
        <Suspense>
          <CreateOrgDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </>
  );
}

function Rail({ session, onLeave, onKeys }: { session: Session; onLeave?: () => void; onKeys: () => void }) {
  const place = useOrg();
  const { slug, env } = place;
  return (
    <nav className="rail" aria-label="Main">
      <OrgSwitch session={session} />
      {nav.map((group) => (
        <div key={group.name ?? ''} className="rail-group">
          {group.name && <div className="rail-head">{group.name}</div>}
          {itemsFor(place, group.items).map((item) => (
            <Link
              key={item.page}
              className="rail-link"
              to={`/$org/$env/${item.page}`}
              params={{ org: slug, env }}
              onClick={() => onLeave?.()}
            >
              <Icon name={item.icon} />
              {item.name}
            </Link>
          ))}
        </div>
      ))}
      <div className="rail-foot">
        <a className="rail-link" href="/models">
          <Icon name="list-search" />
          Models
        </a>
        <a className="rail-link" href={`${base_url}/docs`} target="_blank" rel="noopener noreferrer">
          <Icon name="external-link" />
          API reference
        </a>
        <button type="button" className="rail-link" aria-keyshortcuts="?" onClick={onKeys}>
          <Icon name="keyboard" />
          Shortcuts
        </button>
        <span className="rail-name">
          {place.has_reseller && storefront === null ? (
            <Suspense>
              <SellerName />
            </Suspense>
          ) : (
            service_name
          )}
        </span>
      </div>
    </nav>
  );
}

/** The page of an address: `requests` of `/acme/live/requests/01K…`. */
function pageOf(pathname: string): NavPage {
  return navItems.find(({ page }) => page === pathname.split('/')[3])?.page ?? 'home';
}

/** The name of the page at an address, for the title of the window. */
function titleOf(pathname: string): string {
  if (pathname.split('/')[3] === 'profile') return 'Your account';
  return navItems.find((item) => item.page === pageOf(pathname))?.name ?? '';
}

function useSwitchEnv(): (env: Env) => void {
  const { slug } = useOrg();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  // The page stays the same, but without its filters: keys and calls of one environment do not exist in the other.
  return (env) =>
    void navigate({ to: `/$org/$env/${pageOf(pathname)}`, params: { org: slug, env }, search: {} });
}

function EnvSwitch() {
  const { env } = useOrg();
  const switchTo = useSwitchEnv();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms; this acts at once
    <div className="env" role="group" aria-label="Environment">
      <button type="button" aria-pressed={env === 'live'} onClick={() => switchTo('live')}>
        <span className="env-dot" aria-hidden="true" />
        Live
      </button>
      <button
        type="button"
        className="sandbox"
        aria-pressed={env === 'sandbox'}
        onClick={() => switchTo('sandbox')}
      >
        Sandbox
      </button>
    </div>
  );
}

function Account({ session }: { session: Session }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  return (
    <AccountMenu user={session.user} onLeft={() => void navigate({ to: '/sign-in' })}>
      <Menu.Item
        leftSection={<Icon name="user" size={15} />}
        onClick={() => void navigate({ to: '/$org/$env/profile', params: { org: slug, env } })}
      >
        Your account
      </Menu.Item>
      <Menu.Divider />
    </AccountMenu>
  );
}

function SandboxBand() {
  return (
    <aside className="sandbox-band" aria-label="Sandbox">
      <span>Sandbox · simulated models, no real money, no real data</span>
    </aside>
  );
}

/** What is open over the page. */
type Over = 'menu' | 'palette' | 'keys' | null;

/** Keys that work on every page. */
function useFrameKeys(setOver: (over: Over) => void, find: RefObject<HTMLInputElement | null>): void {
  const place = useOrg();
  const { env, slug } = place;
  const navigate = useNavigate();
  const switchTo = useSwitchEnv();
  const go = (page: (typeof navItems)[number]['page']) => () =>
    void navigate({ to: `/$org/$env/${page}`, params: { org: slug, env } });
  useShortcuts({
    ...Object.fromEntries(itemsFor(place).map((item) => [`g ${item.key}`, go(item.page)])),
    '/': () => find.current?.focus(),
    '?': () => setOver('keys'),
    'Mod+k': () => setOver('palette'),
    'Shift+E': () => switchTo(env === 'live' ? 'sandbox' : 'live'),
  });
}

/** The title of the window, and the environment for the style sheets. */
function useWindowTitle(): void {
  const { env, name } = useOrg();
  const { pathname } = useLocation();
  useEffect(() => {
    document.documentElement.dataset['env'] = env;
    document.title = `${env === 'sandbox' ? 'Sandbox · ' : ''}${titleOf(pathname)} · ${name}`;
  }, [env, pathname, name]);
}

function Frame({ session, ended }: { session: Session; ended: boolean }) {
  const { env, role, status } = useOrg();
  const [over, setOver] = useState<Over>(null);
  const find = useRef<HTMLInputElement>(null);
  useFocusOnArrival();
  useFrameKeys(setOver, find);
  useWindowTitle();
  const close = () => setOver(null);
  const onKeys = () => setOver('keys');
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      {env === 'sandbox' && <SandboxBand />}
      <div className="shell">
        <div className="rail-side">
          <Rail session={session} onKeys={onKeys} />
        </div>
        <div className="shell-main">
          <header className="top">
            <Button className="rail-open" icon="menu-2" aria-label="Menu" onClick={() => setOver('menu')} />
            <FindById ref={find} />
            <Button
              className="palette-open"
              aria-keyshortcuts="Control+K Meta+K"
              onClick={() => setOver('palette')}
            >
              Go to… <span className="kbd">Ctrl K</span>
            </Button>
            <div className="grow top-space" />
            <EnvSwitch />
            <Account session={session} />
          </header>
          <OfflineNote />
          <Suspense fallback={null}>
            {session.look_ends_at !== undefined && <LookNote />}
            {status !== 'active' && <SuspendedNote />}
            {(role === 'owner' || role === 'admin') && status !== 'closed' && <LegalNote />}
            <Announcements />
          </Suspense>
          <main className="page" id="main" tabIndex={-1}>
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense fallback={null}>
        {over === 'menu' && (
          <SideDrawer onClose={close}>
            <Rail session={session} onLeave={close} onKeys={onKeys} />
          </SideDrawer>
        )}
        {over === 'palette' && <Palette session={session} onClose={close} onKeys={onKeys} />}
        {over === 'keys' && <ShortcutTable onClose={close} />}
        {ended && <SessionEnded email={session.user.email} />}
      </Suspense>
    </>
  );
}

export function Shell() {
  const state = useSessionState();
  const { org: slug, env } = useParams({ strict: false });
  const org = state.kind === 'signed_in' ? state.session.orgs.find((each) => each.slug === slug) : undefined;
  const org_id = org?.id;
  const csrf = state.kind === 'signed_in' ? state.session.csrf_token : undefined;
  // A new session gets a new client, so that everything is read again, also what the old session was refused.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the token stands for the session
  const client = useMemo(() => (org_id === undefined ? null : createClient(org_id)), [org_id, csrf]);
  if (state.kind !== 'signed_in') return <Unreachable />;
  // Somebody else has signed in meanwhile in this browser, or the membership has ended.
  if (org === undefined || client === null) return <NotFound />;
  const place: OrgPlace = {
    ...org,
    env: env === 'sandbox' ? 'sandbox' : 'live',
    environment: env === 'sandbox' ? 'TEST' : 'LIVE',
  };
  return (
    // The key drops the state of the page with the person, organisation or environment, so that no data of one is shown
    // under another.
    <OrgProvider value={place} key={`${state.session.user.id} ${place.id} ${place.env}`}>
      <Provider value={client}>
        <Frame session={state.session} ended={state.ended} />
      </Provider>
    </OrgProvider>
  );
}
