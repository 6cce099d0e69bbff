import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden, type MantineColorScheme } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'react-router'
import { launchId } from '../page-context.ts'
import { signOut, useSession } from '../session/session.ts'
import { useTeam } from '../session/team.ts'

const SCHEMES: readonly (readonly [MantineColorScheme, label: string])[] = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** The member, the color scheme, and signing out. */
export function AccountMenu() {
  const { member, org } = useSession()
  const { pathTo } = useTeam()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = useMutation({ mutationFn: signOut })
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton>
          <Avatar size={30} radius="xl" color="accent">
            {initialsOf(member.name)}
          </Avatar>
          <VisuallyHidden>Account of {member.name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text span fw={600} size="sm" c="var(--mantine-color-text)">
            {member.name}
          </Text>
          <br />
          {member.email}
          <br />
          {org.name}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Colors</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          {SCHEMES.map(([scheme, label]) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        {!launchId && (
          <Menu.Item component={Link} to={pathTo('settings/account')}>
            Password, passkeys and sessions
          </Menu.Item>
        )}
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('')
    .toUpperCase()
