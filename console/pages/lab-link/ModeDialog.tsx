import { Button, NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { useSession } from '../../session/session.ts'
import { useTeam } from '../../session/team.ts'
import { accountWords, useLinkChanges, type LabLink } from '../links/link-queries.ts'
import { MODE_TEXTS } from './mode-texts.ts'
import { useLabAccounts } from '../settings/lab-accounts/lab-account-queries.ts'

type Mode = LabLink['mode']

const MODES = Object.keys(MODE_TEXTS) as Mode[]

/** Changes how far a link is live, after saying what the mode does. */
export function ModeDialog({ link }: { link: LabLink }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button onClick={open}>Change mode</Button>
      {/* Starts with the present mode each time. */}
      <ModeChoice key={String(isOpen)} link={link} isOpen={isOpen} onClose={close} />
    </>
  )
}

interface ModeChoiceProps {
  link: LabLink
  isOpen: boolean
  onClose: () => void
}

function ModeChoice({ link, isOpen, onClose }: ModeChoiceProps) {
  const { environment } = useTeam()
  const { setMode } = useLinkChanges(link.account_id)
  const [mode, chooseMode] = useState<Mode>(link.mode)
  const [team_id, chooseTeam] = useState(link.live_team_id ?? '')
  const isForTeam = mode === 'live_for_team'
  const isSame = mode === link.mode && (!isForTeam || team_id === link.live_team_id)
  const becomesLive = environment === 'production' && (mode === 'live' || isForTeam) && !isSame
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Mode of ${accountWords(link)}`}
      action="Change mode"
      isDisabled={isSame || (isForTeam && team_id === '')}
      nameToType={becomesLive ? link.account_number : undefined}
      onConfirm={() => setMode(mode, isForTeam ? team_id : undefined)}
    >
      <Stack gap="md">
        <Radio.Group label="Mode" value={mode} onChange={(value) => chooseMode(value as Mode)}>
          <Stack gap="sm" mt="sm">
            {MODES.map((value) => (
              <Radio key={value} value={value} label={toWords(value)} description={MODE_TEXTS[value]} />
            ))}
          </Stack>
        </Radio.Group>
        {isForTeam && <TeamChoice account_id={link.account_id} team_id={team_id} onChange={chooseTeam} />}
        <Text size="sm" c="dimmed">
          {becomesLive
            ? 'Orders of patients go to the laboratory, and its results to patients. Every process of the server follows within 5 seconds.'
            : 'Every process of the server follows within 5 seconds.'}
        </Text>
      </Stack>
    </ConfirmDialog>
  )
}

interface TeamChoiceProps {
  account_id: string
  team_id: string
  onChange: (team_id: string) => void
}

/** The teams that may order under the account. */
function TeamChoice({ account_id, team_id, onChange }: TeamChoiceProps) {
  const { teams } = useSession()
  const accounts = useLabAccounts()
  const ids = accounts.data?.find(({ id }) => id === account_id)?.team_id_allowlist ?? []
  const options = ids.map((id) => ({ value: id, label: teams.find((team) => team.id === id)?.name ?? shortId(id) }))
  return (
    <NativeSelect
      label="Team"
      data={[{ value: '', label: 'Choose a team' }, ...options]}
      value={team_id}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
