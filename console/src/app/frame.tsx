// What the frames of both consoles have in common: the account menu with the theme, the note of being offline, and the
// focus after a change of page.
import { Menu, useMantineColorScheme } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Session, signOut } from '../api/session.ts';
import { Icon } from '../ui/icons.tsx';

const schemes = [
  { value: 'auto', name: 'As the system', icon: 'device-desktop' },
  { value: 'light', name: 'Light', icon: 'sun' },
  { value: 'dark', name: 'Dark', icon: 'moon' },
] as const;

/** Who is signed in, what `children` add, the theme, and the way out; `onLeft` after the session has ended. */
export function AccountMenu(props: { user: Session['user']; onLeft: () => void; children?: ReactNode }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { user, onLeft, children } = props;
  const leave = async () => {
    await signOut();
    onLeft();
  };
  const name = user.name || user.email;
  return (
    <Menu
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      width={220}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <button type="button" className="btn account" aria-label={`Account of ${name}`}>
          {name.charAt(0).toUpperCase()}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        {children}
        {schemes.map((scheme) => (
          <Menu.Item
            key={scheme.value}
            leftSection={<Icon name={scheme.icon} size={15} />}
            rightSection={colorScheme === scheme.value ? <Icon name="check" size={14} /> : null}
            onClick={() => setColorScheme(scheme.value)}
          >
            {scheme.name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="logout" size={15} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return online;
}

/** After a change of page the focus goes to the new page's content, as a page load would do. */
export function useFocusOnArrival(): void {
  const { pathname } = useLocation();
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is the trigger
  useEffect(() => {
    if (first.current) first.current = false;
    else document.getElementById('main')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [pathname]);
}

/** Says that there is no connection, while there is none. */
export function OfflineNote() {
  const online = useOnline();
  if (online) return null;
  return (
    <div className="offline" role="status">
      <Icon name="wifi-off" size={15} /> You are offline. What you see is not updated until you are back
      online.
    </div>
  );
}
