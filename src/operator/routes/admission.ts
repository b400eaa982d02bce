import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../http/refusal.ts'
import { ADMISSION_PATH } from '../admission/configuration.ts'
import type { Decision } from '../admission/decide.ts'
import { parseQuestion, type Question, toAnswer } from '../admission/review.ts'

/** `POST /admission`: an AdmissionReview of the API server, answered in kind. */
export function admissionRoutes(decide: (proposed: NonNullable<Question['proposed']>) => Promise<Decision>) {
  return (app: FastifyInstance): void => {
    app.post(ADMISSION_PATH, async ({ body }) => {
      const question = parseQuestion(body)
      if (question === undefined) throw new Refusal(400, 'expected an AdmissionReview of admission.k8s.io/v1')
      const { uid, proposed } = question
      return toAnswer(uid, proposed === undefined ? { allowed: true, warnings: [] } : await decide(proposed))
    })
  }
}
