// A user's lab report, uploaded and read with the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { glucoseReport } from '../../support/uploaded-reports.ts'
import { UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

const ENDED_MS_MAX = 60_000

export const labReports = ({ sdk, user, base_url }: Customer): void =>
  void describe('lab reports', () => {
    const file = async (contentType: string) => ({ data: await glucoseReport(), filename: 'report.pdf', contentType })

    /** Waits until a job is parsed. */
    async function parsed(jobId: string) {
      const until = performance.now() + ENDED_MS_MAX
      let job = await sdk.labReport.parserGetJob({ jobId })
      while (job.status === 'upload_pending' || job.status === 'started') {
        assert(performance.now() < until, `the job is still ${job.status}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
        job = await sdk.labReport.parserGetJob({ jobId })
      }
      return job
    }

    for (const contentType of ['application/pdf', 'application/octet-stream'])
      test(`a report that is sent as ${contentType} is parsed`, async () => {
        const { userId } = await user()
        const { id, status } = await sdk.labReport.parserCreateJob({ file: [await file(contentType)], userId })
        assert.equal(status, 'upload_pending')
        const job = await parsed(id)
        assert.equal(job.status, 'completed')
        const [glucose] = job.data!.results
        assert.deepEqual(
          [glucose!.testName, glucose!.value, glucose!.units, glucose!.maxReferenceRange],
          ['Glucose', '105', 'mg/dL', 99],
        )
        assert.equal(job.data!.metadata.patientLastName, 'Person')
      })

    test('a person reviews a report: sees its pages, corrects it, and approves it or lets it fail', async () => {
      const review = async (path: string, body?: unknown) => {
        const sent = body !== undefined && {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }
        const response = await sdk.fetch(new URL(`${base_url}/lab_report/v1/review${path}`), sent || {})
        assert.equal(response.status, 200, path)
        return response
      }
      const { userId } = await user()
      const uploaded = async () => {
        const sent = [await file('application/pdf')]
        const { id } = await sdk.labReport.parserCreateJob({ file: sent, userId, needsHumanReview: true })
        assert.equal((await parsed(id)).status as string, 'pending_review')
        return id
      }
      const [right, wrong] = [await uploaded(), await uploaded()]
      const { data } = (await (await review('')).json()) as { data: { job_id: string }[] }
      assert(data.some(({ job_id }) => job_id === right))
      const { version } = (await (await review(`/${right}`)).json()) as { version: number }
      const picture = Buffer.from(await (await review(`/${right}/page/1`)).arrayBuffer())
      assert.equal(picture.toString('latin1', 1, 4), 'PNG')
      await review(`/${right}/correct`, { version, changed: [{ result_id: 1, value: '96' }] })
      await review(`/${right}/approve`, { version: version + 1 })
      const approved = await sdk.labReport.parserGetJob({ jobId: right })
      assert.deepEqual([approved.status, approved.isReviewed, approved.data!.results[0]!.value], ['completed', true, '96'])
      await review(`/${wrong}/fail`, { version, failure_reason: 'low_quality' })
      assert.equal((await sdk.labReport.parserGetJob({ jobId: wrong })).failureReason, 'low_quality')
    })

    test('an unknown job answers 404', async () => {
      await assertRejected(sdk.labReport.parserGetJob({ jobId: UNKNOWN_ID }), 404)
    })
  })
