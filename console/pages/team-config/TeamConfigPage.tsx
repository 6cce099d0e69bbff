import { Page } from '../../components/Page.tsx'
import { BrandSection } from '../settings/brand/BrandSection.tsx'
import { MessageSettings } from '../settings/messages/MessageSettings.tsx'
import { Section } from '../settings/Section.tsx'
import { useTeamSettings } from '../settings/team-settings.ts'

/** What the feature `team_config` of launch URLs shows: the settings that a clinic has of its own. */
export function TeamConfigPage() {
  const settings = useTeamSettings()
  return (
    <Page title="Team settings">
      <BrandSection />
      {settings.data && (
        <Section title="Messages" description="Which messages patients get, and who is notified of critical results.">
          <MessageSettings settings={settings.data} />
        </Section>
      )}
    </Page>
  )
}
