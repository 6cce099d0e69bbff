import { Skeleton, Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { useTeam } from '../../../session/team.ts'
import { Section } from '../Section.tsx'
import { useTeamSettings } from '../team-settings.ts'
import { Inbox } from './Inbox.tsx'
import { MessageSettings } from './MessageSettings.tsx'
import { MessageTexts } from './MessageTexts.tsx'

const FIRST_TAB = 'inbox'

/** The messages to patients: which were sent, what they say, and whether they are sent. The open tab is in the address. */
export function MessagesSection() {
  const { environment } = useTeam()
  const [params, setParams] = useSearchParams()
  return (
    <Section
      title="Messages to patients"
      description={
        environment === 'sandbox'
          ? 'Text messages and emails about orders, with their texts. They are sent if the server has a gateway or a mail server, and recorded in any case.'
          : 'Text messages and emails about orders. The texts of single messages are at their orders.'
      }
    >
      <Tabs
        value={params.get('tab') ?? FIRST_TAB}
        onChange={(tab) => setParams(tab === null || tab === FIRST_TAB ? {} : { tab })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value={FIRST_TAB}>{environment === 'sandbox' ? 'Inbox' : 'Sent'}</Tabs.Tab>
          <Tabs.Tab value="texts">Texts</Tabs.Tab>
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={FIRST_TAB}>
          <Inbox />
        </Tabs.Panel>
        <Tabs.Panel value="texts">
          <MessageTexts />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <SavedSettings />
        </Tabs.Panel>
      </Tabs>
    </Section>
  )
}

function SavedSettings() {
  const settings = useTeamSettings()
  if (settings.error) return <ErrorNotice error={settings.error} onRetry={() => void settings.refetch()} />
  if (settings.data === undefined)
    return (
      <Delayed>
        <Skeleton height={240} />
      </Delayed>
    )
  if (settings.data === null)
    return <EmptyState title="The team is not in this environment">Choose the other environment above the navigation.</EmptyState>
  return <MessageSettings settings={settings.data} />
}
