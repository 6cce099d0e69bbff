import { NativeSelect, NavLink, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { NavLink as RouterLink, useNavigate } from 'react-router'
import { useTeam } from '../../session/team.ts'
import { PHONE } from '../../theme.ts'
import { SECTION_GROUPS, type SettingsSection } from './sections.ts'
import classes from './SectionNavigation.module.css'

interface SectionNavigationProps {
  sections: readonly SettingsSection[]
  current: SettingsSection | undefined
}

/** The sections of the settings: a list beside the open one, on a phone a select above it. */
export function SectionNavigation(props: SectionNavigationProps) {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  return isPhone ? <SectionSelect {...props} /> : <SectionList {...props} />
}

const groupsOf = (sections: readonly SettingsSection[]) =>
  SECTION_GROUPS.map((group) => ({ group, items: sections.filter((section) => section.group === group) })).filter(
    ({ items }) => items.length > 0,
  )

function SectionList({ sections, current }: SectionNavigationProps) {
  const { pathTo } = useTeam()
  return (
    <Stack component="nav" aria-label="Sections of the settings" gap="md">
      {groupsOf(sections).map(({ group, items }) => (
        <div key={group}>
          <Text className={classes.group}>{group}</Text>
          {items.map((section) => (
            <NavLink
              key={section.path}
              component={RouterLink}
              to={pathTo(`settings/${section.path}`)}
              label={section.label}
              active={section === current}
              aria-current={section === current ? 'page' : undefined}
              className={classes.link}
            />
          ))}
        </div>
      ))}
    </Stack>
  )
}

const NONE = ''

function SectionSelect({ sections, current }: SectionNavigationProps) {
  const { pathTo } = useTeam()
  const navigate = useNavigate()
  const data = groupsOf(sections).map(({ group, items }) => ({
    group,
    items: items.map(({ path, label }) => ({ value: path, label })),
  }))
  return (
    <NativeSelect
      aria-label="Section of the settings"
      data={current ? data : [{ value: NONE, label: 'Choose a section' }, ...data]}
      value={current?.path ?? NONE}
      onChange={(event) => void navigate(pathTo(`settings/${event.currentTarget.value}`))}
    />
  )
}
