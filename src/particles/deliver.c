/* Particles on their way to other ranks: every rank tells every other how many come, then sends those few
   that there are straight to where they go, diagonal neighbours and periodic images included. */
#include "particles_impl.h"

/* What a rank sends to, or gets from, all the others: those of rank r are first[r] <= n < first[r + 1]. */
typedef struct {
  PetscMPIInt *counts, *first;
  char        *records;
} Mail;

typedef struct {
  MPI_Comm     comm;
  PetscMPIInt  size;
  size_t       record; /* bytes: position, number, values */
  MPI_Datatype type;
  Mail         out, in;
} Post;

static PetscErrorCode MailCreate(PetscMPIInt size, Mail *mail)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &mail->counts));
  PetscCall(PetscCalloc1(size + 1, &mail->first));
  mail->records = NULL;
  PetscFunctionReturn(0);
}

/* Once the counts are known. */
static PetscErrorCode MailOpen(const Post *post, Mail *mail)
{
  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < post->size; r++)
    mail->first[r + 1] = mail->first[r] + mail->counts[r];
  PetscCall(PetscMalloc1(post->record * mail->first[post->size], &mail->records));
  PetscFunctionReturn(0);
}

static PetscErrorCode MailDestroy(Mail *mail)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mail->records));
  PetscCall(PetscFree(mail->counts));
  PetscCall(PetscFree(mail->first));
  PetscFunctionReturn(0);
}

static void pack(const ParticleArrays *from, PetscInt n, char *record)
{
  memcpy(record, &from->positions[n], sizeof(*from->positions));
  record += sizeof(*from->positions);
  memcpy(record, &from->numbers[n], sizeof(*from->numbers));
  record += sizeof(*from->numbers);
  if (from->width)
    memcpy(record, &from->values[n * from->width], from->width * sizeof(*from->values));
}

static void unpack(const char *record, ParticleArrays *to, PetscInt n)
{
  memcpy(&to->positions[n], record, sizeof(*to->positions));
  record += sizeof(*to->positions);
  memcpy(&to->numbers[n], record, sizeof(*to->numbers));
  record += sizeof(*to->numbers);
  if (to->width)
    memcpy(&to->values[n * to->width], record, to->width * sizeof(*to->values));
}

static PetscErrorCode PackAll(Post *post, const ParticleArrays *from, const PetscMPIInt destination[])
{
  Mail        *out = &post->out;
  PetscMPIInt *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(post->size, &next));
  PetscCall(PetscArraycpy(next, out->first, post->size));
  for (PetscInt n = 0; n < from->count; n++)
    pack(from, n, out->records + post->record * next[destination[n]]++);
  PetscCall(PetscFree(next));
  PetscFunctionReturn(0);
}

static PetscErrorCode Travel(Post *post)
{
  enum { TAG = 71 };
  MPI_Request *requests;
  PetscMPIInt  count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * post->size, &requests));
  for (PetscMPIInt r = 0; r < post->size; r++)
    if (post->in.counts[r])
      PetscCallMPI(MPI_Irecv(post->in.records + post->record * post->in.first[r], post->in.counts[r],
                             post->type, r, TAG, post->comm, &requests[count++]));
  for (PetscMPIInt r = 0; r < post->size; r++)
    if (post->out.counts[r])
      PetscCallMPI(MPI_Isend(post->out.records + post->record * post->out.first[r], post->out.counts[r],
                             post->type, r, TAG, post->comm, &requests[count++]));
  PetscCallMPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(requests));
  PetscFunctionReturn(0);
}

static PetscErrorCode UnpackAll(const Post *post, ParticleArrays *to)
{
  const PetscInt arrived = post->in.first[post->size];

  PetscFunctionBegin;
  PetscCall(ArraysReserve(to, to->count + arrived));
  for (PetscInt n = 0; n < arrived; n++)
    unpack(post->in.records + post->record * n, to, to->count + n);
  to->count += arrived;
  PetscFunctionReturn(0);
}

PetscErrorCode ArraysDeliver(MPI_Comm comm, const ParticleArrays *from, const PetscMPIInt destination[],
                             ParticleArrays *to)
{
  Post post = {.comm = comm,
               .record =
                   sizeof(*from->positions) + sizeof(*from->numbers) + from->width * sizeof(*from->values)};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &post.size));
  PetscCall(MailCreate(post.size, &post.out));
  PetscCall(MailCreate(post.size, &post.in));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)post.record, MPI_BYTE, &post.type));
  PetscCallMPI(MPI_Type_commit(&post.type));
  for (PetscInt n = 0; n < from->count; n++)
    post.out.counts[destination[n]]++;
  PetscCallMPI(MPI_Alltoall(post.out.counts, 1, MPI_INT, post.in.counts, 1, MPI_INT, comm));
  PetscCall(MailOpen(&post, &post.out));
  PetscCall(MailOpen(&post, &post.in));
  PetscCall(PackAll(&post, from, destination));
  PetscCall(Travel(&post));
  PetscCall(PetscFree(post.out.records)); /* what has come needs room again */
  PetscCall(UnpackAll(&post, to));
  PetscCallMPI(MPI_Type_free(&post.type));
  PetscCall(MailDestroy(&post.in));
  PetscCall(MailDestroy(&post.out));
  PetscFunctionReturn(0);
}
