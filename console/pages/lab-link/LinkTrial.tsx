import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { CopyableCode } from '../../components/CopyableCode.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { saveFile } from '../../components/save-file.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { accountWords, useLinkChanges, useTrial, type LabLink, type LinkTrial } from '../links/link-queries.ts'
import classes from './LinkCheck.module.css'

/** Sends the trial orders of a link in mode `test`, and shows how far they are and what came back. */
export function TrialOrders({ link }: { link: LabLink }) {
  const { account_id } = link
  const { cell } = useTeam()
  const canStart = usePermission('start_lab_link_trial')
  const { data: trial, error, refetch } = useTrial(account_id)
  const { startTrial } = useLinkChanges(account_id)
  const [isOpen, { open, close }] = useDisclosure()
  const isRunning = trial?.is_running === true
  const hasOrders = trial !== undefined && trial.outcomes.length > 0
  return (
    <Stack gap="sm" component="section" aria-labelledby="link-trial">
      <Title order={2} id="link-trial">
        Trial
      </Title>
      <Text size="sm">
        The laboratory gets ten fictional orders, one after the other, and answers each. The report compares its answers with the
        expected ones, and shows the results that it sends.
      </Text>
      <Group>
        {canStart && (
          <Button variant="default" disabled={isRunning} onClick={open}>
            Send trial orders
          </Button>
        )}
        {hasOrders && <SaveReport account_id={account_id} />}
      </Group>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {hasOrders && <Outcomes trial={trial} />}
      <CopyableCode text={`bin/drawbridge links trial ${account_id} --cell ${cell}`} label="the command" />
      <ConfirmDialog isOpen={isOpen} onClose={close} title="Send trial orders" action="Send trial orders" onConfirm={startTrial}>
        <Text size="sm">
          Ten orders go to {accountWords(link)}, marked as tests. Their patients are fictional, and nobody else gets a message.
          Agree with the laboratory when.
        </Text>
        {hasOrders && <Text size="sm">The report of the last trial is replaced.</Text>}
      </ConfirmDialog>
    </Stack>
  )
}

/** Saves what came back of the trial, as a page for the laboratory. */
function SaveReport({ account_id }: { account_id: string }) {
  const { readTrialReport } = useLinkChanges(account_id)
  const saving = useMutation({
    mutationFn: async () => saveFile(await readTrialReport(), `lab-link-trial-${account_id}.html`),
  })
  return (
    <>
      <Button variant="default" loading={saving.isPending} onClick={() => saving.mutate()}>
        Save trial report
      </Button>
      {saving.error && <ErrorNotice error={saving.error} />}
    </>
  )
}

function Outcomes({ trial: { sent_at, is_running, outcomes } }: { trial: LinkTrial }) {
  const count = (verdict: Outcome['verdict']) => outcomes.filter((outcome) => outcome.verdict === verdict).length
  const [expected, different, open] = [count('as_expected'), count('different'), count('open')]
  return (
    <>
      <Text fw={600} size="sm" component="output">
        {is_running ? (
          'Sending'
        ) : (
          <>
            Sent <SystemTime value={sent_at!} />
          </>
        )}
        {`: ${expected} as expected, ${different} different, ${open} open`}
      </Text>
      <ol className={classes.steps} aria-label="Orders of the trial">
        {outcomes.map((outcome) => (
          <li key={outcome.control_id} className={classes.step}>
            <Verdict outcome={outcome} isRunning={is_running} />
            <div>
              <Text fw={600} size="sm">
                {toWords(outcome.name)}
              </Text>
              <Text size="sm" className={classes.text}>
                {outcome.contents} Expected: {outcome.expected}.
              </Text>
              {(outcome.answer ?? outcome.text) !== null && (
                <Text size="sm" className={classes.text}>
                  {[outcome.answer && `Answer ${outcome.answer}`, outcome.text].filter(Boolean).join(': ')}
                </Text>
              )}
              <Text size="sm" c="dimmed" className={classes.text}>
                {outcome.received_tests.length > 0
                  ? `Results: ${outcome.received_tests.join(' · ')}`
                  : `Order ${outcome.placer_number}`}
              </Text>
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}

type Outcome = LinkTrial['outcomes'][number]

function Verdict({ outcome: { verdict, sent_at }, isRunning }: { outcome: Outcome; isRunning: boolean }) {
  if (verdict === 'as_expected') return <StatusBadge tone="good">expected</StatusBadge>
  if (verdict === 'different') return <StatusBadge tone="failed">different</StatusBadge>
  if (sent_at === null) return <StatusBadge tone="neutral">not sent</StatusBadge>
  return isRunning ? <StatusBadge tone="progress">waiting</StatusBadge> : <StatusBadge tone="attention">no answer</StatusBadge>
}
