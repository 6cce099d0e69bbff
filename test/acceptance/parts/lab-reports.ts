// A user's lab report, uploaded and read with the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { glucoseReport } from '../../support/uploaded-reports.ts'
import { UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

const ENDED_MS_MAX = 60_000

export const labReports = ({ sdk, user }: Customer): void =>
  void describe('lab reports', () => {
    for (const contentType of ['application/pdf', 'application/octet-stream'])
      test(`a report that is sent as ${contentType} is parsed`, async () => {
        const { userId } = await user()
        const file = { data: await glucoseReport(), filename: 'report.pdf', contentType }
        const { id, status } = await sdk.labReport.parserCreateJob({ file: [file], userId })
        assert.equal(status, 'upload_pending')
        const until = performance.now() + ENDED_MS_MAX
        let job = await sdk.labReport.parserGetJob({ jobId: id })
        while (job.status === 'upload_pending' || job.status === 'started') {
          assert(performance.now() < until, `the job is still ${job.status}`)
          await new Promise((resolve) => setTimeout(resolve, 50))
          job = await sdk.labReport.parserGetJob({ jobId: id })
        }
        assert.equal(job.status, 'completed')
        const [glucose] = job.data!.results
        assert.deepEqual(
          [glucose!.testName, glucose!.value, glucose!.units, glucose!.maxReferenceRange],
          ['Glucose', '105', 'mg/dL', 99],
        )
        assert.equal(job.data!.metadata.patientLastName, 'Person')
      })

    test('an unknown job answers 404', async () => {
      await assertRejected(sdk.labReport.parserGetJob({ jobId: UNKNOWN_ID }), 404)
    })
  })
