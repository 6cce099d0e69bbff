import { Skeleton, Title } from '@mantine/core'
import { Suspense, use } from 'react'
import { useParams } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ClockOffsetContext } from '../../components/now.ts'
import { Page } from '../../components/Page.tsx'
import { launchId } from '../../page-context.ts'
import { usePermissions } from '../../session/permissions.ts'
import { SectionNavigation } from './SectionNavigation.tsx'
import { SECTIONS, type SettingsSection } from './sections.ts'
import classes from './SettingsPage.module.css'

/** The settings: a list of the sections that the member may open, and the open one. Without a section in the address it is the first. */
export function SettingsPage() {
  const { section: path } = useParams()
  const isPermitted = usePermissions()
  // The account of a launched session is elsewhere.
  const sections = SECTIONS.filter(({ group, operation }) => isPermitted(operation) && !(launchId && group === 'You'))
  const section = path === undefined ? sections[0] : sections.find((candidate) => candidate.path === path)
  return (
    <Page
      title={section ? `${section.label} · Settings` : 'Settings'}
      heading={
        <Title order={1} id="settings">
          Settings
        </Title>
      }
    >
      <div className={classes.layout}>
        <SectionNavigation sections={sections} current={section} />
        {section ? (
          <OpenSection key={section.path} section={section} />
        ) : (
          <EmptyState title="No such section">There is no section at this address, or your role does not permit it.</EmptyState>
        )}
      </div>
    </Page>
  )
}

function OpenSection({ section: { Content, hasTeamTimes = false } }: { section: SettingsSection }) {
  const offset_ms = use(ClockOffsetContext)
  return (
    <ClockOffsetContext value={hasTeamTimes ? offset_ms : 0}>
      <Suspense
        fallback={
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        }
      >
        <Content />
      </Suspense>
    </ClockOffsetContext>
  )
}
