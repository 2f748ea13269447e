/* Private to src/io: a series of frames and the text of run.xmf. */
#ifndef MILLRACE_FRAMES_IMPL_H
#define MILLRACE_FRAMES_IMPL_H

#include "io_impl.h"

enum { FRAME_NAME_SIZE = 64, FRAME_DEFLATE = 1 };
#define FRAME_FORMAT "frames/frame-%06" PetscInt_FMT ".h5"

struct _p_FrameSeries {
  MPI_Comm    comm; /* borrowed */
  PetscMPIInt rank;
  FrameConfig config; /* without its directory */
  char        directory[PETSC_MAX_PATH_LEN];
  Text        members; /* of run.xmf, one per complete frame; on the first rank */

  /* the frame being written */
  Archive     archive; /* null between frames */
  PetscInt    index;
  PetscReal   time;
  Text        grid, meshes, mesh; /* its XML; `mesh` is the one being written */
  char        mesh_name[FRAME_NAME_SIZE];
  ArchivePart lines[2]; /* of vertices and of cells of that mesh */
};

/* Open tags: the caller adds attributes and closes the grid. */
PetscErrorCode XdmfGrid(Text *text, const FrameConfig *grid);
PetscErrorCode XdmfMesh(Text *text, FrameSeries series, const ArchivePart *vertices,
                        const ArchivePart *cells);
PetscErrorCode XdmfAttribute(Text *text, FrameSeries series, const char group[], const char name[],
                             FrameLocation location, const ArchivePart *part);
/* What run.xmf says about the frame being written; each frame holds it too. */
PetscErrorCode XdmfMember(FrameSeries series, Text *member);
/* Takes it into run.xmf. Collective. */
PetscErrorCode XdmfAddFrame(FrameSeries series, const Text *member, char message[], size_t message_size);

#endif
