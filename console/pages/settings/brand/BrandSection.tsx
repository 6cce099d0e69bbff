import { Skeleton } from '@mantine/core'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { Section } from '../Section.tsx'
import { useTeamSettings } from '../team-settings.ts'
import { BrandForm } from './BrandForm.tsx'

/** The name, the address and the color under which patients know the team. */
export function BrandSection() {
  const settings = useTeamSettings()
  return (
    <Section
      title="Brand"
      description="Patients see it: it begins text messages, signs mails, and heads the pages and documents that they open."
    >
      {settings.error && <ErrorNotice error={settings.error} onRetry={() => void settings.refetch()} />}
      {settings.data === undefined && !settings.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {settings.data === null && (
        <EmptyState title="The team is not in this environment">Choose the other environment above the navigation.</EmptyState>
      )}
      {settings.data && <BrandForm settings={settings.data} />}
    </Section>
  )
}
